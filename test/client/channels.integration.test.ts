import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../docs/client/client.ts";
import { selectEngineTable } from "../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../lib/local/local-run.ts";
import { issueApiKey } from "../../lib/ops/keys/api-key-changes.ts";
import { connect } from "../../shared/channels/connections.ts";
import { inParallel } from "../../shared/in-parallel.ts";
import { seeded, shuffled } from "../support/cases/random.ts";
import { startFakeMeta } from "../support/requests/fake-meta.ts";
import { engineEndpoint } from "../support/setup/engine-endpoint.ts";
import { synthesizeAssembly } from "../support/stack/assembly.ts";
import { temporaryDirectory } from "../support/stack/temporary-directory.ts";

/** Faults that take minutes are made only at night. */
const isWhole = process.env.TEST_SEED === "whole";
const people = isWhole ? 25 : 2;

const data = await temporaryDirectory("channels-", afterAll);
const secret = randomUUID();
const meta = await startFakeMeta(secret);
const options = {
  templateDirectory: await synthesizeAssembly({
    outdir: join(data, "stack"),
    tableName: `channels-${randomUUID()}`,
    settings: { channels: true },
  }),
  ...{ dataDirectory: join(data, "local"), dynamodbEndpoint: engineEndpoint },
  environment: { GRAPH_URL: meta.url },
  log: () => {},
};
const run = await startLocal(options);
afterAll(() => run.stop());
meta.webhook = `${run.url}/webhook`;
selectEngineTable(run.dynamodbEndpoint, run.tableName);

/** Each account has a sender of each channel, and the same people write to both accounts. */
const senders = (["acme", "globex"] as const).flatMap((account, n) => [
  { account, channel: "whatsapp", sender: `10654035224${n}` } as const,
  { account, channel: "instagram", sender: `17841405822${n}` } as const,
]);
const secrets = senders.map(({ channel, sender }) => [`channels/${channel}/${sender}/token`, `of-${sender}`]);
await writeFile(
  join(data, "local", "secrets.json"),
  JSON.stringify({ "channels/app-secret": secret, ...Object.fromEntries(secrets) }),
);
await Promise.all(senders.map((connection) => connect(connection)));
const clients = new Map(
  await Promise.all(
    (["acme", "globex"] as const).map(async (account) => {
      const { apiKey } = await issueApiKey(account);
      return [account, createClient({ url: run.url, key: apiKey })] as const;
    }),
  ),
);

const chats = senders.flatMap(({ account, channel, sender }) =>
  [...Array(people).keys()].map((n) => ({ account, channel, sender, from: `49151000000${10 + n}` })),
);
type Chat = (typeof chats)[number];
const clientOf = ({ account }: Chat) => clients.get(account) as NonNullable<ReturnType<typeof clients.get>>;
const write = (chat: Chat, text: string) => ({ ...chat, name: `${chat.account}'s Ada`, text });

/** The fault of each message. Every second message has none. */
const slow = isWhole ? ["down", "", "lost"] : ["", "", ""];
const words = ["", "refused", "", "busy", "", "late", "", ...slow];
const textsOf = (chat: Chat) =>
  [...Array(5).keys()].map((n) => `${n} ${words[(chats.indexOf(chat) * 5 + n) % words.length]}`.trim());

/** Whether a failure is reported later. Instagram reports only messages that were read. */
const isLate = ({ channel }: Pick<Chat, "channel">, text: string) =>
  channel === "whatsapp" && text.includes("late");

async function conversationOf(chat: Chat) {
  const { data } = await clientOf(chat).listLeads({ address: [`${chat.channel}:${chat.from}`] });
  const [{ id = "" } = {}] = data;
  const { data: all } = await clientOf(chat).listConversations({ leadId: id });
  return all.find(({ channel }) => channel === chat.channel);
}

async function sentStates(chat: Chat) {
  const states: unknown[] = [];
  for await (const one of clientOf(chat).messages(String((await conversationOf(chat))?.id)))
    if (one.direction === "outbound") states.unshift([one.message, one.delivery, one.deliveryError]);
  return states;
}

test("messages reach people on WhatsApp and Instagram once and in order, and each message shows how far it has got", async () => {
  await meta.write(
    chats.map((chat) => write(chat, `Hello ${chat.account}?`)),
    2,
  );
  for (const client of clients.values())
    expect((await client.listConversations({ awaitingReply: "true" })).pagination.total).toBe(2 * people);
  await inParallel(chats, async (chat) => {
    const { leadId = "", messageCount } = (await conversationOf(chat)) ?? {};
    expect(messageCount).toBe(1);
    for (const message of textsOf(chat))
      await clientOf(chat).sendMessage({ leadId, channel: chat.channel, message });
  });

  const attempted = (chat: Chat) =>
    textsOf(chat).map((text) => {
      if (text.includes("refused")) return [text, "failed", "131026: Message undeliverable."];
      return isLate(chat, text)
        ? [text, "failed", expect.stringContaining("131047")]
        : [text, "sent", undefined];
    });
  for (const chat of chats)
    await expect.poll(() => sentStates(chat), { timeout: 150_000 }).toEqual(attempted(chat));
  const random = seeded(62);
  await inParallel(
    meta.taken.filter((message) => !isLate(message, message.text)),
    async (message) => {
      for (const state of shuffled(random, ["sent", "delivered", "read", "delivered"]))
        await meta.report(message, state);
    },
  );
  for (const chat of chats) {
    const read = attempted(chat).map(([text, state, error]) => [
      ...[text, state === "sent" ? "read" : state, error],
    ]);
    expect(await sentStates(chat)).toEqual(read);
    const { sender, from } = chat;
    const taken = meta.taken.filter((message) => message.sender === sender && message.to === from);
    expect(taken.map(({ text }) => text)).toEqual(textsOf(chat).filter((text) => !text.includes("refused")));
    expect(new Set(taken.map(({ token }) => token))).toEqual(new Set([`Bearer of-${sender}`]));
  }

  const [chat] = chats as [Chat];
  const waiting = async () =>
    (await clientOf(chat).listConversations({ awaitingReply: "true" })).data.map(
      ({ lastMessage }) => lastMessage.text,
    );
  expect(await waiting()).toEqual([]);
  await meta.write([write(chat, "Thank you!")], 3);
  expect(await waiting()).toEqual(["Thank you!"]);
  const { leadId = "" } = (await conversationOf(chat)) ?? {};
  await clientOf(chat).sendMessage({ leadId, channel: chat.channel, message: "You are welcome." });
  await expect.poll(() => meta.taken.at(-1)?.text).toBe("You are welcome.");
  expect(await waiting()).toEqual([]);

  for (const [account, client] of clients) {
    const { data, pagination } = await client.listLeads({ limit: 100 });
    expect(pagination.total).toBe(2 * people);
    const named = data.map(({ name }) => name).filter((name) => name.includes("Ada"));
    expect(named).toEqual(Array(people).fill(`${account}'s Ada`));
  }

  // Messages that wait when the run stops are sent by the next run.
  for (const message of ["busy", "behind it"])
    await clientOf(chat).sendMessage({ leadId, channel: chat.channel, message });
  const queue = join(data, "local", "queue.json");
  // Before it is refused, its function may still be sending it. Other messages may also wait there.
  const visibleSoon = async () => {
    const kept: [string, { MessageBody: string }, number][] = Object.values(
      JSON.parse(await readFile(queue, "utf8")),
    );
    const isText = (text: string) => kept.find(([, entry]) => JSON.parse(entry.MessageBody).message === text);
    return isText("behind it") && Number(isText("busy")?.[2]) < Date.now() + 10_000;
  };
  await expect.poll(visibleSoon).toBe(true);
  await run.stop();
  const next = await startLocal(options);
  onTestFinished(next.stop);
  const sent = () => meta.taken.slice(-3).map(({ text }) => text);
  await expect.poll(sent, { timeout: 60_000 }).toEqual(["You are welcome.", "busy", "behind it"]);
}, 300_000);
