import { FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import {
  GetFunctionConfigurationCommand,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from "@aws-sdk/client-lambda";
import type { FunctionName } from "../../../lib/bundling/bundle.ts";
import { isRecord } from "../../../lib/is-record.ts";
import { parseJson } from "../../../lib/parse-json.ts";
import { conversations, leads } from "../../contract/account.ts";
import { Client } from "../../contract/client.ts";
import { percentile } from "../../support/statistics.ts";
import type { AwsStage } from "../aws-stage.ts";
import { readLoadRatios } from "../docs-figures.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import { type Acceptance, type Phase, settle } from "../phase.ts";

/** How many environments of each function are started, at most, and how many of them its log must have. */
const mostRounds = 25;
const leastStarts = 20;

/** The fewest requests of a route that have a p99. */
const leastRequests = 100;

/** The variable whose change makes Lambda start new environments. No code reads it. */
const harmlessVariable = "ACCEPTED_AT";

/** The functions that a caller waits for. */
const measured = ["authorize", "list-leads", "create-lead", "list-conversations", "send-message"] as const;

/** How long the start of an environment may take, and a request of a warm one, in milliseconds. */
const longest = { init: 250, warm: 20, p99: 1000 };

/** How much longer the start of a function may take, compared with that of list-leads, than on one core. */
const longestRatio = 1.5;

/** The part of a function's memory that it may use. */
const memoryShare = 0.5;

/** How late the lines of a log may be, in milliseconds. */
const logLag = 30_000;

/** Cold starts, durations and memory, by what Lambda itself reports of each call. */
export const times: Phase = {
  name: "times",
  minutes: 9,
  needs: "aws",
  async *run(acceptance) {
    const { aws, isProduction, settings, now } = acceptance as Acceptance & { aws: AwsStage };
    const start = now();
    await sendWarm(acceptance);
    const end = now();
    const why = isProduction
      ? "no function of a stage that keeps its data is changed"
      : settings?.deployment === "canary"
        ? "requests go to versions of the functions, which cannot be changed"
        : undefined;
    if (why === undefined) await startEnvironments(acceptance, aws);
    await acceptance.wait(logLag);
    const reports = new Map<FunctionName, readonly Report[]>();
    for (const name of measured) reports.set(name, await readReports(aws, name, { startTime: start }));
    yield* coldStarts(reports, why);
    yield* warmCalls(reports);
    const range = { startTime: acceptance.startedAt, endTime: end };
    const lines = await readLog(aws.logs, `/aws/vendedlogs/http-apis/${aws.stackName}`, range);
    yield* latencies(lines);
    yield throttles(lines, acceptance);
  },
};

/** What Lambda reports of a call, in milliseconds and MB. @see https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html#platform-report */
interface Report {
  readonly durationMs: number;
  readonly memorySizeMB: number;
  readonly maxMemoryUsedMB: number;
  readonly initDurationMs?: number;
}

/** Sends requests of each route while no environment is started. */
async function sendWarm({ mine, note, signal, load }: Acceptance): Promise<void> {
  const { id } = await mine.createLead();
  const requests = load / 10;
  for (let n = 1; n <= requests; n++) {
    signal.throwIfAborted();
    note(`warm requests, ${n} of ${requests}`);
    await mine.count(leads);
    await mine.count(conversations);
    await mine.createLead();
    await mine.sendMessage(id, "web");
  }
}

/**
 * Changes a variable of each function, sends a request to each, and does so again; puts the variables back at the end.
 */
async function startEnvironments(acceptance: Acceptance, aws: AwsStage): Promise<void> {
  const { accounts, url, note, cleanUp, signal, load } = acceptance;
  const { issueKey, mine } = accounts as NonNullable<Acceptance["accounts"]>;
  cleanUp.defer(() => {
    note("putting the variables of the functions back");
    return resetVariables(aws);
  });
  const rounds = Math.min(mostRounds, load);
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted();
    note(`new environments, ${round} of ${rounds}`);
    await settle(measured.map((name) => setVariable(aws, name, String(Date.now()))));
    // The authorizer runs for each key that it has not seen.
    const client = new Client(url, (await issueKey(mine)).apiKey, signal);
    await client.get(leads);
    await client.get(conversations);
    await client.post(leads, { name: "Accept" });
    await client.post(conversations, { leadId: "lead_none", channel: "web", message: "Hello" });
    for (let n = 0; n < 3; n++) await client.get(leads);
  }
}

/** Sets the variable of a function, or removes it, and waits until new environments have it. */
async function setVariable(
  { lambda, functionNames }: AwsStage,
  name: FunctionName,
  value?: string,
): Promise<void> {
  const FunctionName = functionNames[name];
  const waiting = { client: lambda, maxWaitTime: 120, minDelay: 1, maxDelay: 2 };
  // Lambda refuses a change while another one is made.
  await waitUntilFunctionUpdatedV2(waiting, { FunctionName });
  const { Environment } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
  if (!Environment?.Variables) throw new Error(`Lambda does not show the variables of ${FunctionName}`);
  const { [harmlessVariable]: former, ...others } = Environment.Variables;
  if (value === undefined && former === undefined) return;
  const Variables = value === undefined ? others : { ...others, [harmlessVariable]: value };
  await lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }));
  await waitUntilFunctionUpdatedV2(waiting, { FunctionName });
}

/** Takes the variable away from all functions. */
export async function resetVariables(aws: AwsStage): Promise<void> {
  await settle(measured.map((name) => setVariable(aws, name)));
}

async function readReports({ functionNames, logGroups, logs }: AwsStage, name: FunctionName, range: Range) {
  const logGroupName = logGroups[Object.keys(functionNames).indexOf(name)];
  if (!logGroupName) return [];
  return readLog(logs, logGroupName, range, '{ $.type = "platform.report" }').then((lines) =>
    lines.flatMap(({ record }) =>
      isRecord(record) && isRecord(record.metrics) ? (record.metrics as unknown as Report) : [],
    ),
  );
}

type Line = Readonly<Record<string, unknown>>;

/** In milliseconds since the epoch. */
interface Range {
  readonly startTime: number;
  readonly endTime?: number;
}

/** Reads the lines of a log that match, parsed. */
async function readLog(logs: AwsStage["logs"], logGroupName: string, range: Range, filterPattern?: string) {
  const lines: Line[] = [];
  let nextToken: string | undefined;
  do {
    const page = await logs.send(
      new FilterLogEventsCommand({
        ...{ logGroupName, ...range, nextToken },
        ...(filterPattern && { filterPattern }),
      }),
    );
    for (const { message = "" } of page.events ?? []) {
      const line = parseJson(message);
      if (isRecord(line)) lines.push(line);
    }
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return lines;
}

type Reports = ReadonlyMap<FunctionName, readonly Report[]>;

function* coldStarts(reports: Reports, why: string | undefined): Generator<Finding> {
  const inits = new Map(
    [...reports].map(([name, all]) => [name, all.flatMap(({ initDurationMs }) => initDurationMs ?? [])]),
  );
  const ratios = readLoadRatios();
  const base = percentile(inits.get("list-leads") ?? [], 0.5);
  for (const [name, all] of inits) {
    const comparison = {
      check: `The start of an environment of ${name}`,
      page: assumption("cold-starts"),
      expected: `at most ${longest.init} ms (median of at least ${leastStarts})`,
    };
    if (why !== undefined || all.length < leastStarts) {
      yield notSeen(comparison, why ?? `its log has ${all.length} starts`);
      continue;
    }
    const median = percentile(all, 0.5);
    const bench = (ratios.get(name) ?? 0) / (ratios.get("list-leads") ?? 1);
    yield compared(comparison, `${median.toFixed(0)} ms (median of ${all.length})`, median <= longest.init);
    yield compared(
      {
        check: `The start of ${name}, compared with that of list-leads`,
        page: assumption("cold-starts"),
        expected: `at most ${(longestRatio * bench).toFixed(2)} times: ${bench.toFixed(2)} in docs/bench/start.md`,
      },
      `${(median / base).toFixed(2)} times`,
      median / base <= longestRatio * bench,
    );
  }
}

function* warmCalls(reports: Reports): Generator<Finding> {
  for (const [name, all] of reports) {
    const warm = all.filter(({ initDurationMs }) => initDurationMs === undefined);
    const duration = {
      check: `A call of a warm ${name}`,
      page: assumption("durations"),
      expected: `at most ${longest.warm} ms (median)`,
    };
    const memory = {
      check: `The memory of ${name}`,
      page: assumption("memory"),
      expected: `at most ${100 * memoryShare} % of 1,024 MB`,
    };
    if (warm.length === 0) {
      yield notSeen(duration, "its log has no such call");
      yield notSeen(memory, "its log has no call");
      continue;
    }
    const durations = warm.map(({ durationMs }) => durationMs);
    const [p50, p99] = [percentile(durations, 0.5), percentile(durations, 0.99)];
    const seen = `${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (of ${warm.length})`;
    yield compared(duration, seen, p50 <= longest.warm);
    const size = all[0]?.memorySizeMB ?? 0;
    const used = Math.max(...all.map(({ maxMemoryUsedMB }) => maxMemoryUsedMB));
    yield compared(memory, `${used} of ${size} MB`, size === 1024 && used <= memoryShare * size);
  }
}

/** What callers wait for, by the access log of the gateway. */
function latencies(lines: readonly Line[]): Finding[] {
  const routes = Map.groupBy(
    lines.filter(({ status }) => /^2/.test(String(status))),
    ({ routeKey }) => String(routeKey),
  );
  const comparison = {
    page: assumption("durations"),
    expected: `less than ${longest.p99} ms (p99 of at least ${leastRequests}), which slow-answers alarms`,
  };
  if (routes.size === 0)
    return [notSeen({ check: "The latency of the routes", ...comparison }, "the access log has no request")];
  return [...routes].map(([route, all]) => {
    const values = all.map(({ responseLatency }) => Number(responseLatency));
    const [p50, p99] = [percentile(values, 0.5), percentile(values, 0.99)];
    const check = { check: `The latency of ${route}`, ...comparison };
    const seen = `${p50} ms, p99 ${p99} ms (of ${all.length})`;
    return all.length < leastRequests ? notSeen(check, seen) : compared(check, seen, p99 < longest.p99);
  });
}

/** Whether the log has the requests that the throttle refused in the phase `gateway`. */
function throttles(lines: readonly Line[], { wasThrottled }: Acceptance): Finding {
  const page = assumption("throttles-in-the-access-log");
  const comparison = {
    check: "The access log has requests that the throttle refused",
    page,
    expected: "yes",
  };
  if (lines.some(({ status, gatewayError }) => String(status) === "429" && gatewayError !== "-"))
    return compared(comparison, "yes");
  return wasThrottled
    ? compared(comparison, "no")
    : notSeen(comparison, "the throttle refused no request of the phase gateway");
}
