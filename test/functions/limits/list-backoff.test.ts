import { randomUUID } from "node:crypto";
import { ThrottlingException } from "@aws-sdk/client-dynamodb";
import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import { newId } from "../../../shared/ids.ts";
import { call } from "../../support/requests/call.ts";
import { startedConversation } from "../../support/tables/stored.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const table = useTable();
let now: number;

beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
  vi.useFakeTimers({ toFake: ["Date"], now });
  vi.spyOn(console, "error").mockImplementation(() => {});
  // The backoff is nearly the longest that its jitter allows.
  vi.spyOn(Math, "random").mockReturnValue(0.99999);
});

/** Lists after some milliseconds. @returns the status of the response, and the number of calls */
async function list(after: number, account: string, query = ""): Promise<[number | undefined, number]> {
  now += after;
  vi.setSystemTime(now);
  const { result, calls } = await table.watch(() => call("list-leads", { account, query }));
  return [result.status, calls.length];
}

/** Throttles the key range of every call, or of every call of a kind. */
const throttle = (kind: new (input: never) => object = Object) => {
  table.before = (command) => {
    if (command instanceof kind) throw new ThrottlingException({ message: "throttled", $metadata: {} });
  };
};
const recover = () => {
  table.before = () => {};
};

const refusedAtOnce = [429, 0];
const refused = [429, 2];
const listed = [200, 2];

// The first test of the file: the environment has no backoffs yet.
test("an environment remembers a thousand backoffs, and forgets them all when there are more", async () => {
  throttle();
  for (let n = 0; n < 1000; n++) expect(await list(0, `account-${n}`)).toEqual(refused);
  expect(await list(0, "account-0")).toEqual(refusedAtOnce);
  expect(await list(0, "another")).toEqual(refused);
  expect(await list(0, "account-0")).toEqual(refused);
  expect(await list(0, "another")).toEqual(refusedAtOnce);
});

test("after a throttle, lists of the key range fail at once; the backoff doubles up to five seconds until a list succeeds", async () => {
  const account = randomUUID();
  throttle();
  expect(await list(0, account)).toEqual(refused);
  for (const backoff of [100, 200, 400, 800, 1600, 3200, 5000, 5000]) {
    expect(await list(backoff - 1, account)).toEqual(refusedAtOnce);
    expect(await list(1, account)).toEqual(refused);
  }
  recover();
  expect(await list(4999, account)).toEqual(refusedAtOnce);
  expect(await list(1, account)).toEqual(listed);
  // The next backoff begins as short as the first.
  throttle();
  expect(await list(0, account)).toEqual(refused);
  expect(await list(100, account)).toEqual(refused);
});

test("the jitter may shorten the backoff to nothing", async () => {
  const account = randomUUID();
  vi.spyOn(Math, "random").mockReturnValue(0);
  throttle();
  for (let i = 0; i < 5; i++) expect(await list(0, account)).toEqual(refused);
});

test("a backoff does not affect other filters, lists and accounts", async () => {
  const [account, other] = [randomUUID(), randomUUID()];
  throttle();
  await list(0, account, "status=new");
  recover();
  expect(await list(0, account, "status=new")).toEqual(refusedAtOnce);
  expect(await list(0, account, "status=new&page=2")).toEqual(refusedAtOnce);
  for (const query of ["", "status=booked", "source=new", "status=new&source=web"])
    expect(await list(0, account, query)).toEqual(listed);
  expect(await list(0, other, "status=new")).toEqual(listed);
  expect((await call("list-conversations", { account, query: "status=new" })).status).toBe(200);
  expect((await call("create-lead", { account, body: { name: "Ada" } })).status).toBe(201);
});

test("all lists of a lead's conversations back off together, whatever other filters they have", async () => {
  const account = randomUUID();
  const conversations = async (query: string) =>
    (await call("list-conversations", { account, query })).status;
  throttle();
  expect(await conversations("leadId=lead_1")).toBe(429);
  recover();
  expect(await conversations("leadId=lead_1&status=active")).toBe(429);
  expect(await conversations("leadId=lead_2")).toBe(200);
});

test.each([
  ["ValidationException", 500],
  ["RequestLimitExceeded", 503],
])("an error of the whole table, such as %s, causes no backoff", async (name, status) => {
  const account = randomUUID();
  table.before = () => {
    throw Object.assign(new Error("inside"), { name });
  };
  expect(await list(0, account)).toEqual([status, 2]);
  recover();
  expect(await list(0, account)).toEqual(listed);
});

test("if reading the messages of a conversation is throttled, this backs off, and the list does not", async () => {
  const account = randomUUID();
  const id = newId("conv");
  table.memory.put(conversationItem(account, startedConversation(id)));
  const open = (query: string) => call("list-conversations", { account, query: `id=${id}${query}` });
  throttle(QueryCommand);
  const { result, calls } = await table.watch(() => open("&include=messages"));
  expect([result.status, calls.length]).toEqual([429, 2]);
  const again = await table.watch(() => open("&include=messages"));
  expect([again.result.status, again.calls.length]).toEqual([429, 1]);
  expect((await open("")).status).toBe(200);
});
