import { afterAll, expect, test } from "vitest";
import { countNodeKey } from "../../shared/dynamodb/keys.ts";
import { refusal, serverError } from "./aws-errors.ts";
import { type Exchange, pass } from "./exchange.ts";
import { startFaultyApi } from "./faulty-api.ts";

const { table, stored, ...options } = await startFaultyApi();
// Imported here because the client reads its endpoint from the environment.
const { setLeadStatus } = await import("../../lib/ops/leads/lead-changes.ts");
const { checkCounts } = await import("./count-check.ts");
const { aLead } = await import("../support/requests.ts");
const { startMaintainer } = await import("./maintainer.ts");
const maintainer = await startMaintainer(options);
afterAll(async () => {
  await maintainer.stop();
  table.close();
});

/** Creates 40 leads in each account and waits until they are counted. */
async function createCounted(...accounts: readonly string[]) {
  const created: Awaited<ReturnType<typeof aLead>>[][] = accounts.map(() => []);
  // All at once, a busy machine would not serve them within a second.
  for (let n = 0; n < 40; n += 8)
    for (const [index, account] of accounts.entries())
      created[index]?.push(
        ...(await Promise.all(Array.from({ length: 8 }, () => aLead(account, { source: "website" })))),
      );
  await maintainer.drained();
  return created;
}

const book = (account: string, leads: readonly { readonly id: string }[]) =>
  Promise.all(leads.map(({ id }) => setLeadStatus(account, id, "booked", Date.now() + 5000)));

const isTreeCall =
  (account: string) =>
  ({ input: { Key, Item } }: Exchange) =>
    (Key ?? Item)?.pk?.S === countNodeKey("lead", account, "root").pk;

test.each([
  ["is throttled", () => refusal("ThrottlingException")],
  ["fails", serverError],
] as const)("an invocation retries its calls when the table %s for one of its lists, and everything is counted", async (does, response) => {
  const [faulty, whole] = [`one list ${does}`, `another ${does}`];
  const [faultyLeads = [], wholeLeads = []] = await createCounted(faulty, whole);
  const failuresBefore = maintainer.failures();
  let rejected = 0;
  table.handle = async (exchange) => {
    if (rejected === 6 || !isTreeCall(faulty)(exchange)) return pass(exchange);
    rejected += 1;
    exchange.reply(response());
  };
  await Promise.all([book(faulty, faultyLeads.slice(0, 5)), book(whole, wholeLeads.slice(0, 5))]);
  await maintainer.drained();
  expect(rejected).toBe(6);
  expect(maintainer.violations).toEqual([]);
  expect(maintainer.failures()).toBe(failuresBefore);
  for (const account of [faulty, whole])
    expect(await checkCounts(account, await stored(account))).toEqual([]);
});

test("a delayed commit does not undo later ones", async () => {
  const account = "late commit";
  const [[first, second] = []] = await createCounted(account);
  if (!first || !second) throw new Error("No leads were created.");
  const released = Promise.withResolvers<void>();
  let held: Promise<unknown> | undefined;
  table.handle = async (exchange) => {
    if (held || exchange.operation !== "PutItem" || !isTreeCall(account)(exchange)) return pass(exchange);
    held = released.promise.then(() => exchange.forward());
    await held;
  };
  for (const lead of [first, second]) {
    await book(account, [lead]);
    await maintainer.drained();
  }
  expect(held).toBeDefined();
  released.resolve();
  await held;
  expect(await checkCounts(account, await stored(account))).toEqual([]);
});
