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
import type { AwsStage } from "../aws-stage.ts";
import { readLoadRatios } from "../docs-figures.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";
import { mostBurst } from "./gateway.ts";

/** How many environments of each function are started. */
const rounds = 20;

/** The variable whose change makes Lambda start new environments. No code reads it. */
const harmlessVariable = "ACCEPTED_AT";

/** The functions that a caller waits for. */
const measured = ["authorize", "list-leads", "create-lead", "list-conversations", "send-message"] as const;

/** How long the start of an environment may take, and a request of a warm one, in milliseconds. */
const longest = { init: 250, warm: 20 };

/** The part of a function's memory that it may use. */
const memoryShare = 0.5;

/** How late the lines of a log may be, in milliseconds. */
const logLag = 30_000;

/** Cold starts, durations and memory, by what Lambda itself reports of each call. */
export const times: Phase = {
  name: "times",
  minutes: 7,
  needs: "aws",
  async *run(acceptance) {
    const { aws, isProduction } = acceptance as Acceptance & { aws: AwsStage };
    const start = acceptance.now();
    const why = isProduction ? "no function of a stage that keeps its data is changed" : undefined;
    if (why === undefined) await startEnvironments(acceptance, aws);
    await acceptance.wait(logLag);
    const reports = new Map<FunctionName, readonly Report[]>();
    for (const name of measured) reports.set(name, await readReports(aws, name, start));
    yield* coldStarts(reports, why);
    yield* warmCalls(reports);
    const lines = await readLog(aws.logs, `/aws/vendedlogs/http-apis/${aws.stackName}`, acceptance.startedAt);
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

/**
 * Changes a variable of each function, sends a request to each, and does so again; puts the variables back at the end.
 */
async function startEnvironments(acceptance: Acceptance, aws: AwsStage): Promise<void> {
  const { accounts, url, note, cleanUp, signal } = acceptance;
  const { issueKey, mine } = accounts as NonNullable<Acceptance["accounts"]>;
  cleanUp.defer(() => {
    note("putting the variables of the functions back");
    return resetVariables(aws);
  });
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted();
    note(`new environments, ${round} of ${rounds}`);
    await Promise.all(measured.map((name) => setVariable(aws, name, String(Date.now()))));
    // The authorizer runs for each key that it has not seen.
    const client = new Client(url, (await issueKey(mine)).apiKey);
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
  const FunctionName = functionNames[name] ?? name;
  const { Environment } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
  const { [harmlessVariable]: former, ...others } = Environment?.Variables ?? {};
  if (value === undefined && former === undefined) return;
  const Variables = value === undefined ? others : { ...others, [harmlessVariable]: value };
  await lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }));
  const waiting = { client: lambda, maxWaitTime: 120, minDelay: 1, maxDelay: 2 };
  await waitUntilFunctionUpdatedV2(waiting, { FunctionName });
}

/** Takes the variable away from all functions. */
export async function resetVariables(aws: AwsStage): Promise<void> {
  await Promise.all(measured.map((name) => setVariable(aws, name)));
}

async function readReports(
  { outputs, functionNames, logGroups, logs }: AwsStage,
  name: FunctionName,
  startTime: number,
) {
  const logGroupName = logGroups[Object.keys(JSON.parse(outputs.FunctionNames ?? "{}")).indexOf(name)];
  if (!functionNames[name] || !logGroupName) return [];
  return readLog(logs, logGroupName, startTime, '{ $.type = "platform.report" }').then((lines) =>
    lines.flatMap(({ record }) =>
      isRecord(record) && isRecord(record.metrics) ? (record.metrics as unknown as Report) : [],
    ),
  );
}

type Line = Readonly<Record<string, unknown>>;

/** Reads the lines of a log that match, parsed. */
async function readLog(
  logs: AwsStage["logs"],
  logGroupName: string,
  startTime: number,
  filterPattern?: string,
) {
  const lines: Line[] = [];
  let nextToken: string | undefined;
  do {
    const page = await logs.send(
      new FilterLogEventsCommand({
        logGroupName,
        startTime,
        nextToken,
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

/** The value below which a part of the values is; NaN without values. */
function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
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
      expected: `at most ${longest.init} ms (median of at least ${rounds})`,
    };
    if (why !== undefined || all.length < rounds) {
      yield notSeen(comparison, why ?? `its log has ${all.length} starts`);
      continue;
    }
    const median = percentile(all, 0.5);
    const bench = (ratios.get(name) ?? 0) / (ratios.get("list-leads") ?? 1);
    const ratio = `${(median / base).toFixed(2)} times that of list-leads, ${bench.toFixed(2)} times in docs/bench/start.md`;
    yield compared(
      comparison,
      `${median.toFixed(0)} ms (median of ${all.length}), ${ratio}`,
      median <= longest.init,
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
    const [p50, p99] = [0.5, 0.99].map((part) =>
      percentile(
        warm.map(({ durationMs }) => durationMs),
        part,
      ),
    );
    yield compared(
      duration,
      `${p50?.toFixed(1)} ms, p99 ${p99?.toFixed(1)} ms (of ${warm.length})`,
      (p50 ?? Number.NaN) <= longest.warm,
    );
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
    expected: "less than 1,000 ms (p99), which slow-answers alarms",
  };
  if (routes.size === 0)
    return [notSeen({ check: "The latency of the routes", ...comparison }, "the access log has no request")];
  return [...routes].map(([route, all]) => {
    const values = all.map(({ responseLatency }) => Number(responseLatency));
    const [p50 = Number.NaN, p99 = Number.NaN] = [0.5, 0.99].map((part) => percentile(values, part));
    const seen = `${p50} ms, p99 ${p99} ms (of ${all.length}, cold starts included)`;
    return compared({ check: `The latency of ${route}`, ...comparison }, seen, p50 < 1000);
  });
}

/** Whether the log has the requests that the throttle refused in the phase `gateway`. */
function throttles(lines: readonly Line[], { settings }: Acceptance): Finding {
  const page = assumption("throttles-in-the-access-log");
  const comparison = {
    check: "The access log has requests that the throttle refused",
    page,
    expected: "yes",
  };
  if (lines.some(({ status, gatewayError }) => String(status) === "429" && gatewayError !== "-"))
    return compared(comparison, "yes");
  return (settings?.throttleBurst ?? mostBurst + 1) > mostBurst
    ? notSeen(comparison, "no flood was sent")
    : compared(comparison, "no");
}
