import { GetCommand } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { handler as authorize } from "../../functions/authorize.ts";
import { messageKey } from "../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import type { Message } from "../../shared/schemas/conversation-schemas.ts";
import { call } from "../support/call.ts";
import { authorizerEvent } from "../support/events.ts";
import { type FuzzRequest, identity, request } from "./generators/request.ts";
import {
  type Account,
  expectAllStored,
  newWorld,
  noteCreated,
  resolve,
  toBytes,
  type World,
} from "./world.ts";

/** How many requests a run sends. */
const cases = Number(process.env.CASES ?? 300);

/** The seed of the failure to repeat. */
const seed = process.env.SEED;

/** How many cases share one world: longer lists would only make listing slow. */
const casesPerWorld = 100;

const start = () =>
  newWorld(
    async () => "",
    async ({ name: account }, route, sent) => (await call(route, { account, ...sent })).body,
  );

/** Sends a request, half of them in base64. @returns its body as text, and the response */
async function send(world: World, { route, who, type, ...sent }: FuzzRequest, isBase64Encoded: boolean) {
  const bytes = toBytes(world, who, sent.body);
  const text = bytes.toString();
  const headers = Object.fromEntries([
    ...sent.headers.map(([name, value]) => [name, resolve(world, who, value)]),
    ["content-type", type],
    ["content-length", String(bytes.length)],
  ]);
  const body = isBase64Encoded ? bytes.toString("base64") : text;
  const query = resolve(world, who, sent.query);
  const account = world.accounts[who].name;
  const response = await call(route, { account, query, headers, ...(body && { body }), isBase64Encoded });
  return { text, response };
}

/** Checks that a response holds no id and no text of an account. */
function expectNothingFrom({ mark, ids }: Account, response: object): void {
  const all = JSON.stringify(response);
  expect(all).not.toContain(mark);
  for (const [id] of all.matchAll(/\b(?:lead|conv|msg)_[0-9A-Z]{26}/g)) expect(ids).not.toContain(id);
}

/** Checks that what was created is as it was sent, and is found again. */
async function expectCreated(
  { send }: World,
  account: Account,
  route: string,
  text: string,
  record: unknown,
) {
  const isLead = route === "create-lead";
  noteCreated(isLead ? route : "send-message", account, JSON.parse(text), record);
  const { leadId, conversationId } = record as Message;
  const [list, query] = isLead
    ? (["list-leads", ""] as const)
    : (["list-conversations", `leadId=${leadId}`] as const);
  const { data } = (await send(account, list, { query: `${query}&limit=100` })) as { data: object[] };
  expect(data).toContainEqual(
    isLead ? account.leads[0] : account.conversations.find(({ id }) => id === conversationId),
  );
  if (isLead) return;
  // No route lists messages.
  const message = record as Message;
  const Key = messageKey(account.name, conversationId, message.id);
  const { Item } = await table.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
  expect(Item).toEqual({ ...Key, ...message });
}

test("every response of a handler to a random event is documented and correct", async () => {
  const log = vi.spyOn(console, "error");
  const statuses: number[] = [];
  let world: World | undefined;
  const property = fc.asyncProperty(request, fc.boolean(), async ({ value, verdict }, isBase64Encoded) => {
    if (world && statuses.length % casesPerWorld === 0) {
      await expectAllStored(world);
      world = undefined;
    }
    const current = world ?? (await start());
    // After a failure, the world may not match the table any more: smaller cases must fail in a new one.
    world = undefined;
    const { text, response } = await send(current, value, isBase64Encoded);
    const { status = 0, body } = response;
    statuses.push(status);
    const [own, other] = value.who === 0 ? current.accounts : [...current.accounts].reverse();
    expectNothingFrom(other as Account, response);
    expect(status, JSON.stringify(body)).toBeLessThan(500);
    if (verdict === "valid") expect(status, JSON.stringify(body)).toBeLessThan(300);
    if (verdict === "invalid") expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
    const records = [...(own?.leads ?? []), ...(own?.conversations ?? [])];
    if (status === 200) expect(records).toEqual(expect.arrayContaining((body as { data: object[] }).data));
    if (status === 201) await expectCreated(current, own as Account, value.route, text, body);
    world = current;
  });
  await fc.assert(property, { numRuns: cases, ...(seed && { seed: Number(seed) }) });
  if (world) await expectAllStored(world);
  expect(log.mock.calls).toEqual([]);
  const share = (least: number, most: number) =>
    statuses.filter((status) => least <= status && status <= most).length / statuses.length;
  expect(share(200, 299)).toBeGreaterThan(0.25);
  expect(share(400, 499)).toBeGreaterThan(0.25);
}, 3_600_000);

test("the authorizer denies every random identity and does not throw", async () => {
  const property = fc.asyncProperty(identity, async (identitySource) => {
    expect(await authorize({ ...authorizerEvent(""), identitySource } as never)).toEqual({
      isAuthorized: false,
    });
  });
  await fc.assert(property, { numRuns: 500 });
});
