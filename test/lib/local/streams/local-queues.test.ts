import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { SQSEvent } from "aws-lambda";
import { expect, test } from "vitest";
import { openLocalQueues } from "../../../../lib/local/streams/local-queues.ts";
import { temporaryDirectory } from "../../../support/stack/temporary-directory.ts";
import { createFunction } from "../support/stack.ts";

const QueueUrl = "Deliveries";
const failed = { batchItemFailures: [{ itemIdentifier: "" }] };
const never = new Promise<never>(() => {});

/** Opens the queues of a run. @param respond the function's response to a message @param visibilityTimeout in seconds */
async function open(
  file: string,
  respond: (id: string, receiptHandle: string) => unknown = () => undefined,
  visibilityTimeout = 0,
) {
  const delivered: string[] = [];
  const stopping = new AbortController();
  const queue = { url: QueueUrl, function: await createFunction(""), maxReceives: 2, visibilityTimeout };
  const queues = openLocalQueues([queue], {
    file,
    invoke: async (_, payload) => {
      const [{ body: id, receiptHandle } = { body: "", receiptHandle: "" }] = (
        JSON.parse(payload) as SQSEvent
      ).Records;
      delivered.push(id);
      return respond(id, receiptHandle);
    },
    log: (line) => delivered.push(line),
    signal: stopping.signal,
  });
  const toEntry = (id: string) => ({
    ...{ Id: id, MessageBody: id, MessageDeduplicationId: id, MessageGroupId: id.replace(/\d/, "") },
  });
  const send = (...ids: string[]) => queues.SendMessageBatch({ QueueUrl, Entries: ids.map(toEntry) });
  return { delivered, send, queues, stop: () => stopping.abort() };
}

const idsIn = (file: string) => Object.keys(JSON.parse(readFileSync(file, "utf8")));

test("after a run is killed, only messages that waited or were being delivered are redelivered, in the order of their group", async () => {
  const file = join(await temporaryDirectory(), "queue.json");
  const killed = await open(file, (id) => (id === "b1" ? undefined : never));
  await killed.send("a1", "b1");
  await killed.send("a2", "a3");
  await expect.poll(() => idsIn(file)).toEqual(["a1", "a2", "a3"]);
  expect(killed.delivered).toEqual(["a1", "b1"]);

  const next = await open(file);
  // The stream redelivers the records after its position.
  await next.send("a2", "a3", "a4");
  await expect.poll(() => idsIn(file)).toEqual([]);
  expect(next.delivered).toEqual(["a1", "a2", "a3", "a4"]);
});

test("a message that a killed run was delivering is redelivered after its visibility timeout", async () => {
  const file = join(await temporaryDirectory(), "queue.json");
  const killed = await open(file, () => never, 0.5);
  await killed.send("a1");
  await expect.poll(() => killed.delivered).toEqual(["a1"]);
  const next = await open(file);
  await setTimeout(100);
  expect(next.delivered).toEqual([]);
  await expect.poll(() => next.delivered).toEqual(["a1"]);
});

test("a message is delivered again if it is sent again after its end, but not while it waits", async () => {
  const file = join(await temporaryDirectory(), "queue.json");
  const ended = Promise.withResolvers<void>();
  const { delivered, send } = await open(file, () => ended.promise);
  await send("a1", "a2");
  // The response moves the position in the stream, so they are stored before it.
  expect(idsIn(file)).toEqual(["a1", "a2"]);
  await send("a1", "a2");
  ended.resolve();
  await expect.poll(() => idsIn(file)).toEqual([]);
  expect(delivered).toEqual(["a1", "a2"]);
  await send("a1");
  await expect.poll(() => idsIn(file)).toEqual([]);
  expect(delivered).toEqual(["a1", "a2", "a1"]);
});

test("a message to a failure queue is logged", async () => {
  const { queues, delivered } = await open(join(await temporaryDirectory(), "queue.json"));
  await queues.SendMessage({ QueueUrl: "Failures", MessageBody: "a body" });
  expect(delivered).toEqual(["[Failures] a body"]);
});

test("a pause that a function sets is that of one attempt", async () => {
  const file = join(await temporaryDirectory(), "queue.json");
  const pauses = [0];
  const respond = async (_: string, ReceiptHandle: string) => {
    for (const VisibilityTimeout of pauses.splice(0))
      await queues.ChangeMessageVisibility({ ReceiptHandle, VisibilityTimeout });
    return failed;
  };
  const { delivered, queues, send, stop } = await open(file, respond, 60);
  await send("a1");
  await expect.poll(() => delivered).toEqual(["a1", "a1"]);
  // The message is given up after the pause of the queue.
  await setTimeout(50);
  expect([delivered, idsIn(file)]).toEqual([["a1", "a1"], ["a1"]]);
  stop();
});

test("a message is deleted after its last attempt, but stays stored if the run ends during its delivery", async () => {
  const file = join(await temporaryDirectory(), "queue.json");
  const first = await open(file, () => failed);
  await first.send("a1");
  await expect.poll(() => first.delivered).toEqual(["a1", "a1", expect.stringContaining("was given up")]);
  const second = await open(file, () => {
    second.stop();
    throw new Error("its worker was ended");
  });
  await second.send("a2", "a3");
  await setTimeout(50);
  expect([second.delivered, idsIn(file)]).toEqual([["a2"], ["a2", "a3"]]);
});
