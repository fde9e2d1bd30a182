import { CloudWatchClient, GetMetricDataCommand, type MetricDataQuery } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogsClient, FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { functionNames } from "../../../lib/bundling/bundle.ts";
import { mean, sum } from "../../support/statistics.ts";
import { readCosts } from "../docs-figures.ts";
import { kinds } from "../phases/cost.ts";
import { type FakeAccount, fakeClient, pageOf } from "./fake-client.ts";
import { type FakeStack, logGroupName, physicalName } from "./fake-stack.ts";

/** How late metrics and log lines are, in milliseconds. */
const metricLag = 180_000;
const logLag = 25_000;

const hour = 3_600_000;

/** The units that the stage consumes in each minute by itself. */
const background = 7;

const statistics: Readonly<Record<string, (samples: readonly number[]) => number>> = {
  Sum: sum,
  Average: mean,
  Maximum: (samples) => Math.max(...samples),
};

/** What a function reports, in milliseconds: the duration of three calls of a hundred, and the start of environments. */
const usualCalls = { slowest: 40, init: 180 };

type Line = Readonly<Record<string, unknown>>;

/** The lines that a pattern matches. */
const patterns: Readonly<Record<string, (line: Line) => boolean>> = {
  '{ $.type = "platform.report" }': ({ type }) => type === "platform.report",
  '{ $.status = "429" && $.integrationStatus != "429" }': ({ status, integrationStatus }) =>
    status === "429" && integrationStatus !== "429",
};

interface Point {
  readonly time: number;
  readonly samples: readonly number[];
}

/** CloudWatch and its logs, of a stage that is as documented until a test changes it. */
export class FakeMonitoring {
  readonly #account: FakeAccount;
  readonly #stack: FakeStack;
  /** The highest age of the stream, in seconds: most batches are younger. */
  streamAge = 6;
  /** How many requests of a kind are sent in a minute. */
  requestsOfKind = 0;
  /** How many times the documented units a kind consumes; undefined if CloudWatch has none of its minute. */
  readonly unitFactors = new Map<string, number | undefined>();
  /** What functions report that differ from the usual. */
  readonly calls = new Map<string, Partial<typeof usualCalls>>();
  /** Whether the access log has requests that the throttle refused. */
  isThrottled = true;

  constructor(account: FakeAccount, stack: FakeStack) {
    this.#account = account;
    this.#stack = stack;
    const on = fakeClient(CloudWatchClient, account);
    on(GetMetricDataCommand, ({ StartTime, EndTime, MetricDataQueries = [] }) => ({
      MetricDataResults: MetricDataQueries.map((query) =>
        this.#values(query, Number(StartTime), Number(EndTime)),
      ),
    }));
    const onLogs = fakeClient(CloudWatchLogsClient, account);
    onLogs(FilterLogEventsCommand, ({ logGroupName, startTime = 0, endTime, filterPattern, nextToken }) => {
      const matches = patterns[filterPattern ?? ""];
      if (!matches) throw new Error(`The pattern ${filterPattern} is not known.`);
      const events = this.#log(logGroupName)
        .filter(({ time }) => time >= startTime && time <= (endTime ?? account.now()))
        .filter(({ line }) => matches(line))
        .map(({ line }) => ({ message: JSON.stringify(line) }));
      // A page may be empty although more follow.
      if (nextToken === undefined) return { events: [], nextToken: "0" };
      const page = pageOf(events, 15, nextToken);
      return { events: page.items, nextToken: page.next };
    });
  }

  #values({ Id, MetricStat = {} as never }: MetricDataQuery, start: number, end: number) {
    const { Metric, Period, Stat = "" } = MetricStat;
    const statistic = statistics[Stat];
    if (Period !== 60 || !statistic) throw new Error(`CloudWatch has no ${Stat} of ${Period} s.`);
    const dimensions = (Metric?.Dimensions ?? []).map(({ Name, Value }) => `${Name}=${Value}`);
    const points = this.#points([Metric?.Namespace, Metric?.MetricName, ...dimensions].join(" "), start);
    const latest = Math.min(end, this.#account.now() - metricLag);
    const known = points.filter(({ time }) => time >= start && time < latest);
    return {
      Id,
      Timestamps: known.map(({ time }) => new Date(time)),
      Values: known.map(({ samples }) => statistic(samples)),
    };
  }

  /** What CloudWatch has of a metric: nothing of one that it does not know. The first minute is that of the first kind. */
  #points(metric: string, start: number): Point[] {
    const { stackName } = this.#account;
    const age = `AWS/Lambda IteratorAge FunctionName=${physicalName("maintain-counts")}`;
    if (metric === age)
      return [{ time: this.#stack.openedAt, samples: [0, 0, 0, 0, 0, 0, 0, 1000 * this.streamAge] }];
    const ofTable = metric.startsWith("AWS/DynamoDB ") && metric.includes(` TableName=${stackName}`);
    const [, unit, index] =
      /Consumed(Read|Write)CapacityUnits TableName=\S+(?: GlobalSecondaryIndexName=(\S+))?$/.exec(metric) ??
      [];
    if (!ofTable || unit === undefined || !["by-label", "by-activity", undefined].includes(index)) return [];
    const share = index === undefined ? 0.4 : 0.3;
    return kinds.flatMap((kind, n) => {
      const factor = this.unitFactors.has(kind.name) ? this.unitFactors.get(kind.name) : 1;
      if (factor === undefined) return [];
      const units =
        background + factor * this.requestsOfKind * unitsOf(kind)[unit === "Read" ? "reads" : "writes"];
      return { time: start + 60_000 * n, samples: Array.from({ length: 4 }, () => (share * units) / 4) };
    });
  }

  /** The lines of a log: those of the run, and others of an hour before it. */
  #log(group = ""): { readonly time: number; readonly line: Line }[] {
    const before = this.#stack.openedAt - hour;
    const now = this.#account.now() - logLag;
    if (group === `/aws/vendedlogs/http-apis/${this.#account.stackName}`) {
      const line = { routeKey: "GET /api/v1/leads", status: "429", integrationStatus: "429" };
      const refused = { ...line, integrationStatus: "-" };
      return [
        { time: before, line: refused },
        { time: now, line },
        ...(this.isThrottled ? [{ time: this.#stack.openedAt, line: refused }] : []),
      ];
    }
    const name = functionNames.find((name) => logGroupName(name) === group);
    if (name === undefined) throw new Error(`${group} does not exist`);
    const { slowest, init } = { ...usualCalls, ...this.calls.get(name) };
    const report = (durationMs: number, initDurationMs?: number) => ({
      type: "platform.report",
      record: {
        metrics: {
          durationMs,
          memorySizeMB: 1024,
          maxMemoryUsedMB: 130,
          ...(initDurationMs && { initDurationMs }),
        },
      },
    });
    const lines = [
      { message: "done" },
      ...Array.from({ length: 100 }, (_, n) => report(n < 3 ? slowest : 8)),
      ...Array.from({ length: 20 }, () => report(400, init)),
    ];
    return [
      ...Array.from({ length: 40 }, () => ({ time: before, line: report(5000, 5000) })),
      ...lines.map((line) => ({ time: now, line })),
    ];
  }
}

/** The units of a request. */
function unitsOf({ name, of = name, extraReads = 0 }: (typeof kinds)[number]) {
  const { reads, writes } = readCosts().get(of) ?? { reads: -extraReads, writes: 0 };
  return { reads: reads + extraReads, writes };
}
