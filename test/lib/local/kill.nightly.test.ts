import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { paginateScan } from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test } from "vitest";
import { engineClient } from "../../../lib/local/engine/dynamodb-client.ts";
import { fetchChecked } from "../../support/checked-fetch.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { canSeeProcesses, findEngines } from "./support/linux-processes.ts";
import { freePort, signalProcess, startCommand, untilServing } from "./support/process.ts";

/** How often the service is killed. */
const kills = Number(process.env.KILLS ?? 2);
const writers = 6;

/** What the API acknowledged with 201, and so must never be lost. */
interface Acknowledged {
  readonly leads: string[];
  readonly messages: { readonly id: string; readonly conversationId: string }[];
}

test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  "kill -9 at any moment loses no acknowledged write, and never leaves two engines on one file",
  async () => {
    const directory = await temporaryDirectory();
    const file = join(directory, "dynamodb.sqlite");
    const env = { DATA_DIR: directory, PORT: String(await freePort()) };
    const watch = canSeeProcesses ? watchEngines(file) : undefined;
    onTestFinished(() => watch?.stop());
    const acknowledged: Acknowledged = { leads: [], messages: [] };

    for (let round = 0; round <= kills; round += 1) {
      const command = startCommand(env);
      onTestFinished(() => signalProcess(command.pid, "SIGKILL"));
      await untilServing(command);
      const run = JSON.parse(await readFile(join(directory, "run.json"), "utf8"));
      await verify(run, acknowledged);
      if (round === kills) {
        signalProcess(command.pid, "SIGTERM");
        expect(await command.ended).toBe(0);
        break;
      }
      const writing = write(
        run.url,
        (await readFile(join(directory, "api-key"), "utf8")).trim(),
        acknowledged,
      );
      // Wait for a number of writes, not a time: a busy machine must not kill before anything is written.
      const enough = total(acknowledged) + Math.ceil(Math.random() * 60);
      await expect.poll(() => total(acknowledged), { timeout: 60_000, interval: 1 }).toBeGreaterThan(enough);
      await setTimeout(Math.random() * 50);
      // A negative id stands for the process group.
      signalProcess(round % 2 === 0 ? -command.pid : command.pid, "SIGKILL");
      expect(await command.ended).toBe("SIGKILL");
      await writing;
    }
    if (watch) expect(watch.most()).toBe(1);
    expect(acknowledged.messages.length).toBeGreaterThan(0);
    console.log(
      `${kills} kills: ${acknowledged.leads.length} leads, ${acknowledged.messages.length} messages kept.`,
    );
  },
  120_000 + kills * 60_000,
);

const total = ({ leads, messages }: Acknowledged) => leads.length + messages.length;

/** Writes leads and messages in parallel until the service is gone. */
async function write(url: string, apiKey: string, acknowledged: Acknowledged): Promise<void> {
  const post = async <T>(path: string, body: object) => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const response = await fetchChecked(`${url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const created = (await response.json()) as T;
    // The stage's throttle has no tokens for a moment.
    if (response.status !== 201) await setTimeout(20);
    return response.status === 201 ? created : undefined;
  };
  const writer = async () => {
    for (;;) {
      const lead = await post<{ id: string }>("/api/v1/leads", { name: "Ada", source: "website" });
      if (lead) acknowledged.leads.push(lead.id);
      const leadId = acknowledged.leads[Math.floor(Math.random() * Math.min(20, acknowledged.leads.length))];
      const message = await post<Acknowledged["messages"][number]>("/api/v1/conversations", {
        leadId,
        channel: "instagram",
        message: "hi",
      });
      if (message) acknowledged.messages.push(message);
    }
  };
  await Promise.allSettled(Array.from({ length: writers }, writer));
}

/** Reads the whole table from the engine itself and compares it with what was acknowledged. */
async function verify(run: { dynamodbEndpoint: string; tableName: string }, acknowledged: Acknowledged) {
  const client = engineClient(run.dynamodbEndpoint);
  const ids = new Set<string>();
  const counts = new Map<string, number>();
  const messages = new Map<string, number>();
  for await (const { Items = [] } of paginateScan({ client }, { TableName: run.tableName })) {
    for (const { pk, sk, messageCount } of Items) {
      const [type, , conversationId] = String(pk?.S).split("#");
      ids.add(`${type === "MESSAGE" ? conversationId : type} ${sk?.S}`);
      if (type === "CONVERSATION") counts.set(String(sk?.S), Number(messageCount?.N));
      if (type === "MESSAGE")
        messages.set(String(conversationId), (messages.get(String(conversationId)) ?? 0) + 1);
    }
  }
  client.destroy();
  expect(acknowledged.leads.filter((id) => !ids.has(`LEAD ${id}`))).toEqual([]);
  expect(
    acknowledged.messages.filter(({ id, conversationId }) => !ids.has(`${conversationId} ${id}`)),
  ).toEqual([]);
  expect(counts).toEqual(messages);
  expect(ids.size).toBeGreaterThanOrEqual(total(acknowledged));
}

/** Counts repeatedly how many engines have the file open. */
function watchEngines(file: string) {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, findEngines(file).length);
  }, 50);
  return { most: () => most, stop: () => clearInterval(timer) };
}
