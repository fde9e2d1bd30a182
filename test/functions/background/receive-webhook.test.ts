import { createHmac, randomUUID } from "node:crypto";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import type { LambdaFunctionURLEvent } from "aws-lambda";
import { beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../../functions/receive-webhook.ts";
import { connect } from "../../../shared/channels/connections.ts";
import * as entries from "../../../shared/channels/receive-entry.ts";
import { accountKey } from "../../../shared/dynamodb/keys.ts";
import { call } from "../../support/requests/call.ts";
import { mockClient } from "../../support/tables/mocked-client.ts";
import { put, remove } from "../../support/tables/table-items.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const secrets: Readonly<Record<string, string>> = {
  "/channels/app-secret": "secret",
  "/channels/verify-token": "verify",
};
let account: string;
const table = useTable();
const parameters = mockClient(SSMClient);
beforeEach(async () => {
  account = randomUUID();
  parameters.on(GetParameterCommand).callsFake(({ Name }) => ({ Parameter: { Value: secrets[Name] } }));
  await connect({ account, channel: "whatsapp", sender: "106" });
  table.calls = [];
});

const sign = (body: string, secret = "secret") =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
const post = (body: string, signature?: string) =>
  handler({
    ...{ body: Buffer.from(body).toString("base64"), isBase64Encoded: true },
    headers: { ...(signature !== undefined && { "x-hub-signature-256": signature }) },
    requestContext: { http: { method: "POST" } },
  } as unknown as LambdaFunctionURLEvent);
const get = (queryStringParameters: object) =>
  handler({ queryStringParameters, headers: {}, requestContext: { http: { method: "GET" } } } as never);

const webhook = (
  sender: unknown,
  texts: readonly string[] = ["Hi"],
  ids: (n: number) => object = () => ({}),
) =>
  JSON.stringify({
    object: "whatsapp_business_account",
    entry: texts.map((body, n) => {
      const message = { id: `wamid.${n}`, from: "491", type: "text", text: { body }, ...ids(n) };
      const value = { metadata: { phone_number_id: sender }, messages: [message] };
      return { id: "1", changes: [{ field: "messages", value }] };
    }),
  });
const total = async (of = account) => (await call("list-leads", { account: of })).body.pagination.total;

test("the thousand messages of a webhook are stored once, in order for each lead", async () => {
  const texts = Array.from({ length: 1000 }, (_, n) => `Zo\u00eb ${n}`);
  const body = webhook("106", texts, (n) => ({ from: `49${n % 100}` }));
  for (let n = 0; n < 2; n++) expect(await post(body, sign(body))).toEqual({ statusCode: 200 });
  expect(await total()).toBe(100);
  const { data } = (await call("list-conversations", { account, query: "limit=100" })).body;
  const last = data.map(({ messageCount, lastMessage }) => [messageCount, lastMessage.text]);
  expect(last.sort()).toEqual(texts.slice(900).map((text) => [10, text]));
});

test("if a message cannot be stored, those of other leads are stored, and the webhook fails so that it is delivered again", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  const body = webhook("106", ["1", "2", "3"], (n) => ({ from: `49${n}` }));
  const store = vi.spyOn(entries, "receiveEntry").mockRejectedValueOnce(new Error("On purpose."));
  await expect(post(body, sign(body))).rejects.toThrow();
  store.mockRestore();
  expect(await total()).toBe(2);
  await post(body, sign(body));
  expect(await total()).toBe(3);
});

test("a webhook of a frozen account returns 503, and its messages of another account are stored once", async () => {
  const errors = vi.spyOn(console, "error");
  const other = randomUUID();
  await connect({ account: other, channel: "whatsapp", sender: "107" });
  const entry = [...JSON.parse(webhook("106", ["1", "2"])).entry];
  entry.push(...JSON.parse(webhook("107", ["3"], () => ({ from: "492" }))).entry);
  const body = JSON.stringify({ object: "whatsapp_business_account", entry });
  const frozen = { ...accountKey(account), frozenAt: "2026-01-01T00:00:00.000Z" };
  await put(frozen);
  for (let n = 0; n < 2; n++) expect(await post(body, sign(body))).toEqual({ statusCode: 503 });
  expect([await total(), await total(other), errors.mock.calls]).toEqual([0, 1, []]);
  await remove(frozen);
  expect(await post(body, sign(body))).toEqual({ statusCode: 200 });
  expect([await total(), await total(other)]).toEqual([1, 1]);
});

const oddIds = [5, null, "", "1 2", "1,2", "\0", "\u{1F600}", "1".repeat(100_000), ["106"], { $ne: 1 }];
test.each(oddIds)("a signed webhook with an odd id changes nothing: %j", async (odd) => {
  const bodies = [
    ...[webhook(odd), webhook("106", ["Hi"], () => ({ id: odd }))],
    webhook("106", ["Hi"], () => ({ from: odd })),
    JSON.stringify({ object: "instagram", entry: [{ id: odd, messaging: [{ sender: { id: odd } }] }] }),
  ];
  for (const body of bodies) expect(await post(body, sign(body))).toEqual({ statusCode: 200 });
  expect(await total()).toBe(0);
});

const signature = sign(webhook("106"));
test.each<[string, string | undefined, string?]>([
  ["no signature and six megabytes", undefined, " ".repeat(6_000_000)],
  ["no signature", undefined],
  ["an empty signature", ""],
  ["a signature without a digest", "sha256="],
  ["the signature of another secret", sign(webhook("106"), "other")],
  ["the signature of another body", sign(webhook("107"))],
  ["the signature of its body without a blank", signature, " "],
  ["a signature that is cut", signature.slice(0, -1)],
  ["a signature with a digit more", `${signature}0`],
  ["a signature in upper case", signature.toUpperCase()],
])("a webhook with %s is refused without a call of the table", async (_, signature, more = "") => {
  expect([await post(webhook("106") + more, signature), table.calls.length]).toEqual([
    { statusCode: 401 },
    0,
  ]);
});

const otherForms = ["", "null", "{", '{"object":"instagram","entry":[{"id":"1","messaging":[null,{}]}]}'];
test.each(otherForms)("a signed body of another form is accepted, and changes nothing: %s", async (body) => {
  expect([await post(body, sign(body)), await total()]).toEqual([{ statusCode: 200 }, 0]);
});

test("a webhook of a sender that no account has is accepted and logged", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const body = webhook("107");
  expect([await post(body, sign(body)), await total()]).toEqual([{ statusCode: 200 }, 0]);
  expect(warn.mock.calls).toEqual([[{ event: "sender unknown", channel: "whatsapp", sender: "107" }]]);
});

test("without the secret of the app, a webhook fails, so that there is an alarm and it is delivered again", async () => {
  vi.spyOn(console, "error").mockReturnValue();
  // A secret is remembered for a minute.
  vi.setSystemTime(Date.now() + 61_000);
  parameters.on(GetParameterCommand).resolves({});
  await expect(post(webhook("106"), sign(webhook("106")))).rejects.toThrow();
  vi.useRealTimers();
});

test("only a request with the token of the stage confirms the address", async () => {
  const asked = { "hub.mode": "subscribe", "hub.challenge": "42" };
  expect(await get({ ...asked, "hub.verify_token": "verify" })).toMatchObject({
    statusCode: 200,
    body: "42",
  });
  for (const query of [{ ...asked, "hub.verify_token": "x" }, asked, {}])
    expect(await get(query)).toEqual({ statusCode: 403 });
});
