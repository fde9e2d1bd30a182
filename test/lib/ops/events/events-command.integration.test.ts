import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { startEventBus } from "../../../support/event-bus.ts";
import { listening } from "../../../support/listening.ts";
import { createDataDirectory, ops as runOps } from "../../../support/ops.ts";
import { storeConversation, storeErasedLead, storeLead } from "./support.ts";

const dataDirectory = await createDataDirectory();
const since = Date.UTC(2026, 5, 1);
const table = ["--table", tableName, "--bus", "events-test"];
const period = ["--since", "2026-06-01T00:00:00Z", "--until", String(since + 3_600_000)];

/** Starts a bus that keeps the ids of the events that it was sent. */
async function startBus() {
  const ids: string[] = [];
  const log = (line: string) => void ids.push(String(line.split(" ")[2]));
  return { ids, env: { AWS_ENDPOINT_URL_EVENTBRIDGE: await startEventBus({ eventsUrl: undefined, log }) } };
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

test("a bus that refuses an event ends the command, which says how many it took", async () => {
  const account = randomUUID();
  await fill(account, 5);
  const args = [...period, ...table, "--account", account];
  expect(await republish(args, await startRefusingBus())).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "10 events were sent. The event bus events-test did not take 10 events (AccessDeniedException). If you run it again, it starts at --since.\n",
  });
});
