import { randomUUID } from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import { throttled, useTable } from "../../support/tables/watched-table.ts";

// The modules read this when they are loaded.
vi.stubEnv("RATE_LIMIT_REQUESTS", "1000");
const { admitLongList } = await import("../../../shared/rate-limit/list-admission.ts");
const { call } = await import("../../support/requests/call.ts");
const { ConversationHistory, countedLeads, leadId } = await import("../../support/cases/history.ts");

const start = Date.UTC(2026, 0, 1);
const table = useTable();

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: start }));

test("an account may start five long lists in a second: the sixth is refused", async () => {
  const account = randomUUID();
  vi.setSystemTime(start + 999);
  for (let i = 0; i < 5; i++) await admitLongList(account);
  await expect(admitLongList(account)).rejects.toMatchObject({ name: "TooManyAtOnceError" });
  await admitLongList(randomUUID());
  vi.setSystemTime(start + 1000);
  await admitLongList(account);
});

test("an admission takes half a second at most, and its record expires a minute later", async () => {
  const timeout = vi.spyOn(AbortSignal, "timeout");
  await admitLongList("acme");
  expect(timeout).toHaveBeenCalledExactlyOnceWith(500);
  expect([...table.memory.items()]).toEqual([
    { pk: "RATE#acme", sk: `long#${start / 1000}`, used: 1, expiresAt: start / 1000 + 60 },
  ]);
});

test("a long list of one lead's conversations counts as a long list of the account", async () => {
  const history = new ConversationHistory();
  history.addMany(6000);
  await history.list({ leadId });
  const admissions = [...history.table.memory.items()].filter(({ sk }) => String(sk).startsWith("long#"));
  expect(admissions).toMatchObject([{ pk: `RATE#${history.account}`, used: 1 }]);
});

test.each([
  ["throttles", throttled()],
  ["does not respond", new DOMException("aborted", "AbortError")],
  ["fails", Object.assign(new Error("inside"), { name: "ValidationException" })],
])("a table that %s admits no list, and the list fails as busy", async (_, failure) => {
  table.before = () => {
    throw failure;
  };
  const error = await admitLongList("acme").catch((error: unknown) => error);
  expect(error).toMatchObject({ name: "TooExpensiveError", cause: failure });
});

test("without a rate limit all long lists are admitted and nothing is written", async () => {
  vi.resetModules();
  vi.stubEnv("RATE_LIMIT_REQUESTS", undefined);
  const unlimited = await import("../../../shared/rate-limit/list-admission.ts");
  const { WatchedTable } = await import("../../support/tables/watched-table.ts");
  const { calls } = new WatchedTable();
  for (let i = 0; i < 20; i++) await unlimited.admitLongList("acme");
  expect(calls).toEqual([]);
});

test("a refused long list gets 429 with Retry-After, and short lists need no admission", async () => {
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
  const { status, problem, headers } = (await list()).result;
  expect([status, problem.code]).toEqual([429, "too_many_at_once"]);
  // The attempts that follow within a few seconds get the reason of a list.
  expect(problem.detail).toMatch(/^Too many long lists of the account started at once\. Try again/);
  expect((await list()).result.problem.detail).toMatch(/^Too much of this list is read at once\./);
  expect(headers["retry-after"]).toMatch(/^[1234]$/);
  history.advance(10_000);
  await history.deliver();
  const short = await list();
  expect(short.result.body.pagination.total).toBe(110);
  expect(short.calls.filter(isAdmission)).toEqual([]);
});
