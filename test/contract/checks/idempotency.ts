import { randomUUID } from "node:crypto";
import { atOnce, conversations, leads, type Message, type Row, unique } from "../account.ts";
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

const countReplays = (responses: readonly HttpResponse[]) =>
  responses.filter(({ headers }) => headers["idempotency-replayed"] === "true").length;

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

/** Texts that are no keys. */
const invalid = [
  ...["", '""', "k".repeat(256), "a,b", "a b", "a\\b", "é"],
  ...[`"${"k".repeat(256)}"`, '"a","b"', '"a";b=1', '"a', '"a\\b"', '"a\tb"'],
];

export const idempotencyChecks = [
  ...promises("docs/usage.md#idempotent-retries", {
    "A retry returns the first response again, with Idempotency-Replayed: true": async ({ mine }) => {
      const key = randomUUID();
      const lead = expectFirst<Row>(await create(mine, key, { email: "ada@example.com" }));
      for (let n = 0; n < 2; n++) expectReplay(await create(mine, key, { email: "ada@example.com" }), lead);
      const message = expectFirst(await send(mine, key, { leadId: lead.id }));
      expectReplay(await send(mine, key, { leadId: lead.id }), message);
    },
    "A lead with the same Idempotency-Key is stored once": async ({ mine }) => {
      const [key, source, before] = [randomUUID(), unique("once"), await mine.count(leads)];
      const { id } = expectFirst<Row>(await create(mine, key, { source }));
      await create(mine, key, { source });
      expectMatch("the total of leads", await mine.count(leads), before + 1);
      await mine.expectIndexed(leads, { source }, [id]);
    },
    "A message with the same Idempotency-Key is stored once": async ({ mine }) => {
      const { id: leadId } = await mine.createLead();
      const [starting, joining] = [randomUUID(), randomUUID()];
      const { conversationId } = expectFirst<Message>(await send(mine, starting, { leadId }));
      for (const key of [joining, starting, joining]) await send(mine, key, { leadId });
      await mine.expectConversation(conversationId, { messageCount: 2 });
    },
    "Leads that are sent at the same moment with one key are stored once": async ({ mine }) => {
      const [key, before] = [randomUUID(), await mine.count(leads)];
      const responses = await atOnce(10, () => create(mine, key));
      const ids = responses.map((response) => expectResponse<Row>(response, { status: 201 }).id);
      expectMatch("the ids of the responses", [...new Set(ids)], [ids[0]]);
      expectMatch("how many responses are replays", countReplays(responses), 9);
      expectMatch("the total of leads", await mine.count(leads), before + 1);
    },
    "Messages that are sent at the same moment with one key are stored once": async ({ mine }) => {
      const [{ id: leadId }, key] = [await mine.createLead(), randomUUID()];
      const responses = await atOnce(10, () => send(mine, key, { leadId }));
      const sent = responses.map((response) => expectResponse<Message>(response, { status: 201 }));
      expectMatch("the ids of the responses", [...new Set(sent.map(({ id }) => id))], [sent[0]?.id]);
      expectMatch("how many responses are replays", countReplays(responses), 9);
      await mine.expectConversation(sent[0]?.conversationId ?? "", { messageCount: 1 });
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
    "A text that is no key returns 400, and stores nothing": ({ mine }) =>
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
    "A request that 400, 404 or 415 refuses has not used its key": async ({ mine }) => {
      const { id: leadId } = await mine.createLead();
      for (const [sending, status] of refused) {
        const key = randomUUID();
        const headers = { ...sending.headers, "idempotency-key": key };
        expectResponse(await mine.send({ ...sending, headers }), { status });
        expectFirst(sending.path === leads ? await create(mine, key) : await send(mine, key, { leadId }));
      }
    },
  }),
  ...promises("docs/decisions.md#idempotency", {
    "Bodies with the same fields in another order are the same": async ({ mine }) => {
      const key = { "idempotency-key": randomUUID() };
      const lead = expectFirst(await mine.post(leads, { name: "Ada", source: "web" }, key));
      expectReplay(await mine.post(leads, ' {"source": "web", "name": "\\u0041da"}', key), lead);
    },
  }),
];
