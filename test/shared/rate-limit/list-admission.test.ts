import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { throttled } from "../../support/tables/watched-table.ts";

const start = Date.UTC(2026, 0, 1);

/** The modules as they are at cold start with an environment, and a table in memory for them. */
async function coldStart(requests?: string) {
  vi.resetModules();
  vi.stubEnv("RATE_LIMIT_REQUESTS", requests);
  vi.stubEnv("RATE_LIMIT_SECONDS", requests && "60");
  const { admitLongList } = await import("../../../shared/rate-limit/list-admission.ts");
  const { WatchedTable } = await import("../../support/tables/watched-table.ts");
  return { admitLongList, table: new WatchedTable() };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: start }));
afterAll(() => vi.unstubAllEnvs());

describe("with a rate limit", () => {
  test("an account may start five long lists in a second: the sixth is refused", async () => {
    const { admitLongList } = await coldStart("100");
    const account = randomUUID();
    vi.setSystemTime(start + 999);
    for (let i = 0; i < 5; i++) await admitLongList(account);
    await expect(admitLongList(account)).rejects.toMatchObject({ name: "TooManyAtOnceError" });
    await admitLongList(randomUUID());
    vi.setSystemTime(start + 1000);
    await admitLongList(account);
  });

  test("five of many long lists that start at once are admitted", async () => {
    const { admitLongList } = await coldStart("100");
    const account = randomUUID();
    const lists = await Promise.allSettled(Array.from({ length: 30 }, () => admitLongList(account)));
    expect(lists.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
  });

  test("an admission takes half a second at most", async () => {
    const { admitLongList } = await coldStart("100");
    const timeout = vi.spyOn(AbortSignal, "timeout");
    await admitLongList("acme");
    expect(timeout).toHaveBeenCalledExactlyOnceWith(500);
  });

  test("a long list of one lead's conversations counts as a long list of the account", async () => {
    await coldStart("100");
    const { ConversationHistory, leadId } = await import("../../support/cases/history.ts");
    const history = new ConversationHistory();
    history.addMany(6000);
    await history.list({ leadId });
    const admissions = [...history.table.memory.items()].filter(({ sk }) => String(sk).startsWith("long#"));
    expect(admissions).toMatchObject([{ pk: `RATE#${history.account}`, used: 1 }]);
  });

  test("the record of an admission expires a minute later", async () => {
    const { admitLongList, table } = await coldStart("100");
    await admitLongList("acme");
    expect([...table.memory.items()]).toEqual([
      { pk: "RATE#acme", sk: `long#${start / 1000}`, used: 1, expiresAt: start / 1000 + 60 },
    ]);
  });

  test.each([
    ["throttles", throttled()],
    ["does not respond", new DOMException("aborted", "AbortError")],
    ["fails", Object.assign(new Error("inside"), { name: "ValidationException" })],
  ])("a table that %s admits no list, and the list fails as busy", async (_, failure) => {
    const { admitLongList, table } = await coldStart("100");
    table.before = () => {
      throw failure;
    };
    const error = await admitLongList("acme").catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "TooExpensiveError", cause: failure });
  });
});

test("without a rate limit all long lists are admitted and nothing is written", async () => {
  const { admitLongList, table } = await coldStart();
  for (let i = 0; i < 20; i++) await admitLongList("acme");
  expect(table.calls).toEqual([]);
});

test("a refused long list gets 429 with Retry-After, and short lists need no admission", async () => {
  const { admitLongList } = await coldStart("1000");
  const { call } = await import("../../support/requests/call.ts");
  const { countedLeads } = await import("../../support/cases/history.ts");
  const history = await countedLeads(40);
  // Seven pages.
  history.addMany(70, { padding: 110_000 });
  const { account } = history;
  const list = () => history.table.watch(() => call("list-leads", { account, query: "limit=1" }));
  const isAdmission = ({ input }: { readonly input: object }) => JSON.stringify(input).includes("long#");

  const admitted = await list();
  expect(admitted.result.status).toBe(200);
  expect(admitted.calls.filter(isAdmission)).toHaveLength(1);
  for (let i = 0; i < 4; i++) await admitLongList(account);
  const refused = (await list()).result;
  expect([refused.status, refused.problem.code]).toEqual([429, "too_many_at_once"]);
  expect(refused.headers["retry-after"]).toMatch(/^[1234]$/);
  history.advance(10_000);
  await history.deliver();
  const short = await list();
  expect(short.result.body.pagination.total).toBe(110);
  expect(short.calls.filter(isAdmission)).toEqual([]);
});
