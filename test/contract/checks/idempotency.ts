import { randomUUID } from "node:crypto";
import { atOnce, conversations, leads, type Message, type Row } from "../account.ts";
import { type Check, promises } from "../check.ts";
import { type Client, type HttpResponse, posting, type Sending } from "../client.ts";
import { expectMatch, expectResponse } from "../expectations.ts";
import { expectFaults } from "./faults.ts";

const create = (client: Client, key: string, fields: object = {}) =>
  client.post(leads, { name: "Ada", ...fields }, { "idempotency-key": key });

const send = (client: Client, key: string, fields: object) =>
  client.post(conversations, { channel: "web", message: "Hello", ...fields }, { "idempotency-key": key });

const expectFirst = <Body>(response: HttpResponse) =>
  expectResponse<Body>(response, { status: 201, headers: { "idempotency-replayed": undefined } });

const expectReplay = (response: HttpResponse, body: unknown) =>
  expectResponse(response, { status: 201, headers: { "idempotency-replayed": "true" }, body });

/** Expects the same response to all requests of a moment, one of which is the first. */
async function expectOnce(request: () => Promise<HttpResponse>): Promise<Message> {
  const responses = await atOnce(10, request);
  const isReplay = responses.map(({ headers }) => headers["idempotency-replayed"] === "true");
  expectMatch("how many responses are replays", isReplay.filter(Boolean).length, 9);
  const [body] = responses.map(({ body }) => body);
  for (const response of responses) expectResponse(response, { status: 201, body });
  return body as Message;
}

/** Expects a key to be valid, in one spelling or two. */
const isKey =
  (spell: (key: string) => string, again = spell): Check["run"] =>
  async ({ mine }) => {
    const key = randomUUID();
    const lead = expectFirst(await create(mine, spell(key)));
    expectReplay(await create(mine, again(key)), lead);
  };

/** Requests that are refused. */
const refused: readonly (readonly [Sending, number])[] = [
  [posting(leads, { name: 5 }), 400],
  [posting(leads, "x", { "content-type": "text/plain" }), 415],
  [posting(conversations, { leadId: "lead_nobody", channel: "web", message: "Hello" }), 404],
];

/** Texts that are not valid as keys. */
const invalid = [
  ...["", '""', "k".repeat(256), "a,b", "a b", "a\\b", "é"],
  ...[`"${"k".repeat(256)}"`, '"a","b"', '"a";b=1', '"a', '"a\\b"', '"a\tb"'],
];

export const idempotencyChecks = [
  ...promises("docs/usage.md#idempotent-retries", {
    "A retry returns the first response again, with Idempotency-Replayed: true, and stores nothing": async ({
      mine,
    }) => {
      const [key, joining] = [randomUUID(), randomUUID()];
      const lead = expectFirst<Row>(await create(mine, key, { email: "ada@example.com" }));
      const { id: leadId } = lead;
      const message = expectFirst<Message>(await send(mine, key, { leadId }));
      const second = expectFirst(await send(mine, joining, { leadId }));
      await mine.expectNothingStored(async () => {
        for (let n = 0; n < 2; n++) expectReplay(await create(mine, key, { email: "ada@example.com" }), lead);
        for (let n = 0; n < 2; n++) expectReplay(await send(mine, joining, { leadId }), second);
        expectReplay(await send(mine, key, { leadId }), message);
      });
      await mine.expectConversation(message.conversationId, { messageCount: 2 });
    },
    "Leads that are sent at the same moment with one key are stored once": async ({ mine }) => {
      const [key, before] = [randomUUID(), await mine.count(leads)];
      await expectOnce(() => create(mine, key));
      expectMatch("the total of leads", await mine.count(leads), before + 1);
    },
    "Messages that are sent at the same moment with one key are stored once": async ({ mine }) => {
      const [{ id: leadId }, key] = [await mine.createLead(), randomUUID()];
      const { conversationId } = await expectOnce(() => send(mine, key, { leadId }));
      await mine.expectConversation(conversationId, { messageCount: 1 });
    },
    "A retry with another body returns 422, and stores nothing": async ({ mine }) => {
      const [{ id: leadId }, key] = [await mine.createLead(), randomUUID()];
      expectFirst(await create(mine, key, { tags: ["a"] }));
      const { conversationId } = expectFirst<Message>(await send(mine, key, { leadId }));
      await mine.expectNothingStored(async () => {
        for (const response of [
          await create(mine, key, { tags: ["b"] }),
          await create(mine, key),
          await send(mine, key, { leadId, message: "Good bye" }),
          await send(mine, key, { leadId, channel: "sms" }),
          await send(mine, key, { leadId, template: { name: "welcome", language: "en" } }),
        ])
          expectResponse(response, { status: 422, body: { code: "idempotency_key_reused" } });
      });
      await mine.expectConversation(conversationId, { messageCount: 1 });
    },
    "A key belongs to one account and one route": async ({ mine, other }) => {
      const key = randomUUID();
      const { id: leadId } = expectFirst<Row>(await create(mine, key));
      expectFirst(await create(other, key));
      expectFirst(await send(mine, key, { leadId }));
      await other.expectRows(leads, { id: leadId }, []);
    },
    "A key in double quotes is the same as the bare one": isKey(
      (key) => key,
      (key) => `"${key}"`,
    ),
    "A key in double quotes may have any character": isKey((key) => `"${key} , \\" \\\\"`),
    "A key has up to 255 characters": isKey((key) => key.padEnd(255, "~")),
    "An invalid key returns 400, and stores nothing": ({ mine }) =>
      mine.expectNothingStored(async () => {
        for (const key of invalid)
          expectFaults(await create(mine, key), ["header idempotency-key invalid_format"]);
      }),
    "A key in another header, such as X-Idempotency-Key, returns 400": async ({ mine }) => {
      for (const name of ["x-idempotency-key", "idempotency_key", "idempotent-key", "cko-idempotency-key"]) {
        const response = await mine.post(leads, { name: "Ada" }, { [name]: randomUUID() });
        expectFaults(response, [`header ${name} unknown`]);
      }
    },
    "A request that is refused with 400, 404 or 415 has not used its key": async ({ mine }) => {
      const { id: leadId } = await mine.createLead();
      for (const [sending, status] of refused) {
        const key = randomUUID();
        const headers = { ...sending.headers, "idempotency-key": key };
        expectResponse(await mine.send({ ...sending, headers }), { status });
        expectFirst(sending.path === leads ? await create(mine, key) : await send(mine, key, { leadId }));
      }
    },
    "Bodies with the same fields in another order are the same": async ({ mine }) => {
      const key = { "idempotency-key": randomUUID() };
      const lead = expectFirst(await mine.post(leads, { name: "Ada", source: "web" }, key));
      expectReplay(await mine.post(leads, ' {"source": "web", "name": "\\u0041da"}', key), lead);
    },
  }),
];
