import type { FunctionName } from "../../../lib/bundling/bundle.ts";
import { isRecord } from "../../../shared/json.ts";
import { conversations, leads } from "../../contract/account.ts";
import { Client } from "../../contract/client.ts";
import { percentile } from "../../support/cases/statistics.ts";
import { type AwsStage, logLag, readFunctionLog } from "../aws-stage.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import { type Acceptance, type Phase, settle } from "../phase.ts";

/** How many requests are sent at once to each route: an environment processes one at a time. */
const atOnce = 25;

/** The fewest starts of environments for which a median is computed. */
const leastStarts = 5;

/** The functions that a caller waits for. */
const measured = ["authorize", "list-leads", "create-lead", "list-conversations", "send-message"] as const;

/** The longest start of an environment, median call of a warm one, and 99th percentile of such calls, in milliseconds. */
const longest = { init: 250, warm: 20, p99: 1000 };

/** The part of its memory that a function may use. */
const memoryShare = 0.5;

/** Checks cold starts, durations and memory by Lambda's own report of each call. */
export const times: Phase = {
  name: "times",
  needs: "aws",
  async *run(acceptance, aws) {
    const { wait } = acceptance;
    const start = Date.now();
    await sendWarm(acceptance);
    await startEnvironments(acceptance);
    await wait(logLag);
    for (const name of measured) yield* judge(name, await readReports(aws, name, start));
  },
};

/** Lambda's report of a call, in milliseconds and MB. @see https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html#platform-report */
interface Report {
  readonly durationMs: number;
  readonly memorySizeMB: number;
  readonly maxMemoryUsedMB: number;
  readonly initDurationMs?: number;
}

/** Sends requests to each route, one after another. */
async function sendWarm({ mine, signal, load }: Acceptance): Promise<void> {
  const { id } = await mine.createLead();
  for (let n = 0; n < load / 10; n++) {
    signal.throwIfAborted();
    await mine.count(leads);
    await mine.count(conversations);
    await mine.createLead();
    await mine.sendMessage(id, "web");
  }
}

/** Sends concurrent requests, each of which needs an environment. Each has a new key, so that the authorizer runs. */
async function startEnvironments({ accounts, url, signal, load }: Acceptance): Promise<void> {
  const clients: Client[] = [];
  while (clients.length < Math.min(atOnce, load))
    clients.push(new Client(url, (await accounts.issueKey(accounts.mine)).apiKey, signal));
  const message = { leadId: "lead_none", channel: "web", message: "Hello" };
  await settle(clients.map((client) => client.get(leads)));
  await settle(clients.map((client) => client.get(conversations)));
  await settle(clients.map((client) => client.post(leads, { name: "Accept" })));
  await settle(clients.map((client) => client.post(conversations, message)));
}

async function readReports(stage: AwsStage, name: FunctionName, startTime: number) {
  const lines = await readFunctionLog(stage, name, startTime, '{ $.type = "platform.report" }');
  return lines.flatMap(({ record }) =>
    isRecord(record) && isRecord(record.metrics) ? (record.metrics as unknown as Report) : [],
  );
}

/** Compares Lambda's reports of a function's calls with the limits. */
function* judge(name: FunctionName, reports: readonly Report[]): Generator<Finding> {
  const warm = reports.filter(({ initDurationMs }) => initDurationMs === undefined);
  const starts = reports.flatMap(({ initDurationMs }) => initDurationMs ?? []);
  const start = percentile(starts, 0.5);
  const cold = assumption(
    "cold-starts",
    `The start of an environment of ${name}`,
    `at most ${longest.init} ms (median of at least ${leastStarts})`,
  );
  yield starts.length < leastStarts
    ? notSeen(cold, `its log has ${starts.length} starts`)
    : compared(cold, `${start.toFixed(0)} ms (median of ${starts.length})`, start <= longest.init);
  const duration = assumption(
    "durations",
    `A call of a warm ${name}`,
    `at most ${longest.warm} ms (median), p99 less than ${longest.p99} ms`,
  );
  if (warm.length === 0) return yield notSeen(duration, "its log has no such call");
  const durations = warm.map(({ durationMs }) => durationMs);
  const [p50, p99] = [percentile(durations, 0.5), percentile(durations, 0.99)];
  const seen = `${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (of ${warm.length})`;
  yield compared(duration, seen, p50 <= longest.warm && p99 < longest.p99);
  const size = reports[0]?.memorySizeMB ?? 0;
  const used = Math.max(...reports.map(({ maxMemoryUsedMB }) => maxMemoryUsedMB));
  yield compared(
    assumption("memory", `The memory of ${name}`, `at most ${100 * memoryShare} % of 1,024 MB`),
    `${used} of ${size} MB`,
    size === 1024 && used <= memoryShare * size,
  );
}
