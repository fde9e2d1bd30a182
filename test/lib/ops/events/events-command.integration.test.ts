import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startBusEndpoint } from "../../../../lib/local/streams/bus-endpoint.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { listening } from "../../../support/listening.ts";
import { createDataDirectory, ops as runOps } from "../../../support/ops.ts";
import { storeConversation, storeErasedLead, storeLead } from "./support.ts";

const kills = Number(process.env.KILLS ?? 2);
const dataDirectory = await createDataDirectory();
const since = Date.UTC(2026, 5, 1);
const table = ["--table", tableName, "--bus", "events-test"];
const period = ["--since", "2026-06-01T00:00:00Z", "--until", String(since + 3_600_000)];

/** Starts a bus that keeps the ids of the events that it was sent. */
async function startBus() {
  const ids: string[] = [];
  const { endpoint, close } = await startBusEndpoint({
    eventsUrl: undefined,
    log: (line) => void ids.push(String(line.split(" ")[2])),
  });
  onTestFinished(close);
  return { ids, env: { AWS_ENDPOINT_URL_EVENTBRIDGE: endpoint } };
}

/** Starts a bus that takes the events of one call and refuses all others. */
async function startRefusingBus() {
  let calls = 0;
  const server = createServer(async (request, response) => {
    const { Entries = [] } = (await json(request)) as { Entries?: object[] };
    const isTaken = Entries.length > 0 && ++calls === 1;
    const results = Entries.map(() => (isTaken ? { EventId: "1" } : { ErrorCode: "AccessDeniedException" }));
    response.end(JSON.stringify({ Entries: results }));
  });
  onTestFinished(() => void server.close());
  return { AWS_ENDPOINT_URL_EVENTBRIDGE: await listening(server) };
}

const republish = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runOps(["events", "republish", ...args], { dataDirectory, env });

/** An account with leads, conversations and messages. @returns their ids */
async function fill(account: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    ids.push(await storeLead(account, since + i));
    ids.push(...(await storeConversation(account, [since + i, since + i + 1])));
  }
  return ids.sort();
}

test("each event is sent once, of one account or of all", async () => {
  const [one, other] = [randomUUID(), randomUUID()];
  const ids = await fill(one, 4);
  const otherIds = await fill(other, 3);
  const bus = await startBus();
  const json = await republish([...period, ...table, "--account", one, "--json"], bus.env);
  expect({ ...json, stdout: JSON.parse(json.stdout) }).toEqual({
    code: 0,
    stderr: "",
    stdout: {
      republished: true,
      since: "2026-06-01T00:00:00.000Z",
      until: "2026-06-01T01:00:00.000Z",
      events: { "lead.created": 4, "conversation.started": 4, "message.sent": 8 },
    },
  });
  expect(bus.ids.splice(0).sort()).toEqual(ids);

  const all = await republish(
    [...period, ...table, "--all", "--types", "lead.created,message.sent"],
    bus.env,
  );
  expect(all).toEqual({
    code: 0,
    stderr: "",
    stdout:
      "21 events from 2026-06-01T00:00:00.000Z to before 2026-06-01T01:00:00.000Z have been sent again (7 lead.created, 14 message.sent).\n",
  });
  const started = (id: string) => id.startsWith("conv_");
  expect(bus.ids.splice(0).sort()).toEqual([...ids, ...otherIds].filter((id) => !started(id)).sort());

  // An account that has nothing but an erased lead.
  const erased = await storeErasedLead(randomUUID(), since, since);
  await republish([...period, ...table, "--all", "--types", "lead.erased"], bus.env);
  expect(bus.ids.splice(0)).toEqual([erased]);

  // It needs no bus.
  const planned = await republish([...period, ...table, "--account", one, "--dry-run"]);
  expect(planned).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^16 events .* would be sent again/),
  });
  expect(bus.ids).toEqual([]);
});

test("with a progress file, a command that is killed again and again sends every event, and few of them twice", async () => {
  const account = randomUUID();
  const ids = await fill(account, 60);
  const bus = await startBus();
  const progress = join(await createDataDirectory(), "progress.json");
  const args = [...period, ...table, "--account", account, "--rate", "300", "--progress", progress];
  const program = join(import.meta.dirname, "../../../../bin/ops.ts");
  for (let round = 0; round < kills; round++) {
    const command = spawn(process.execPath, [program, "events", "republish", ...args], {
      env: { ...process.env, ...bus.env },
    });
    onTestFinished(() => void command.kill("SIGKILL"));
    const exit = once(command, "exit");
    const enough = bus.ids.length + 1 + Math.floor(Math.random() * 30);
    await expect
      .poll(() => (bus.ids.length >= enough && existsSync(progress)) || command.exitCode !== null, {
        interval: 5,
      })
      .toBe(true);
    command.kill("SIGKILL");
    await exit;
  }
  const last = await republish(args, bus.env);
  expect(last.code, last.stderr).toBe(0);
  expect(last.stderr).toMatch(/^Continuing after \d+ events\.\n$/);
  expect([...new Set(bus.ids)].sort()).toEqual(ids);
  expect(bus.ids.length).toBeLessThanOrEqual(ids.length + 10 * kills);
  expect(existsSync(progress)).toBe(false);
});

test("a bus that refuses an event ends the command, and another run continues", async () => {
  const account = randomUUID();
  const ids = await fill(account, 5);
  const progress = join(await createDataDirectory(), "progress.json");
  const args = [...period, ...table, "--account", account];
  const refused = await republish([...args, "--progress", progress], await startRefusingBus());
  expect(refused).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "10 events were sent. The event bus events-test did not take 10 events (AccessDeniedException). Run the command again to continue.\n",
  });
  const alone = await republish(args, await startRefusingBus());
  expect(alone.stderr).toMatch(/AccessDeniedException\)\. If you run it again, it starts at --since\.\n$/);
  const bus = await startBus();
  const { code, stderr } = await republish([...args, "--progress", progress], bus.env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "Continuing after 10 events.\n" });
  expect(bus.ids).toHaveLength(ids.length - 10);
});

test("the progress file of another command is refused", async () => {
  const account = randomUUID();
  await fill(account, 1);
  const bus = await startBus();
  const progress = join(await createDataDirectory(), "progress.json");
  const args = [...period, ...table, "--account", account, "--progress", progress];
  const position = { until: since + 3_600_000, key: { pk: `LEAD#${account}`, sk: "lead_0" }, sent: 7 };
  const task = { table: tableName, bus: "another", account, since, until: since + 3_600_000 };
  for (const text of [JSON.stringify({ task, position }), "{", "{}"]) {
    await writeFile(progress, text);
    expect(await republish(args, bus.env)).toEqual({
      code: 1,
      stdout: "",
      stderr: `${progress} is not of this command: use the same options as before, or another file.\n`,
    });
  }
  expect(bus.ids).toEqual([]);
});
