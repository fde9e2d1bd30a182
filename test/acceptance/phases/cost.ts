import { randomUUID } from "node:crypto";
import { GetMetricDataCommand, type Metric } from "@aws-sdk/client-cloudwatch";
import { indexes, timeIndexes } from "../../../shared/dynamodb/keys.ts";
import { conversations, leads, unique } from "../../contract/account.ts";
import { Client, type HttpResponse } from "../../contract/client.ts";
import { sum } from "../../support/statistics.ts";
import type { AwsStage } from "../aws-stage.ts";
import { type Cost, limiterWrites, readCosts, unitPrices } from "../docs-figures.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";
import { countedWithin } from "./counting.ts";

/** How many requests of a kind are sent in its minute. */
const requestsOfKind = ({ load }: Pick<Acceptance, "load">) => Math.min(20, load);

/** How much more than documented a figure may be: metrics of CloudWatch are whole units. And how much less. */
const tolerance = { most: 1.1, least: 0.5 };

/** How long the counting of rows may go on after the last request, in milliseconds. */
const quiet = 30_000;

/** How much of its minute a kind may take, in milliseconds: the counting follows it. */
const longest = 40_000;

/** How long CloudWatch may take to have the units of a minute, in milliseconds. */
const metricLag = 240_000;

/** What each kind of request costs: each has a minute of its own on a stage that nobody else uses, by CloudWatch. */
export const cost: Phase = {
  name: "cost",
  minutes: 19,
  needs: "aws",
  async *run(acceptance) {
    const { aws, settings, note, wait } = acceptance as Acceptance & { aws: AwsStage };
    if (settings.canary) {
      await wait(metricLag);
      yield await streamAge(aws, acceptance);
      for (const kind of kinds.slice(1))
        yield notSeen(expectedUnits(kind).comparison, "the canary uses the table every five minutes");
      return;
    }
    const minutes: Minute[] = [];
    const prepared = await prepare(acceptance);
    await wait(quiet);
    for (const [n, kind] of kinds.entries()) {
      note(`minute ${n + 1} of ${kinds.length}: ${kind.name}`);
      minutes.push(await sendForMinute(acceptance, prepared, kind));
    }
    note("waiting for the metrics of the last minute");
    await nextMinute(acceptance);
    await wait(metricLag);
    const units = await readUnits(
      aws,
      minutes.map(({ start }) => start),
    );
    yield await streamAge(aws, acceptance);
    const [idle = none] = units;
    for (const [n, minute] of minutes.entries())
      if (minute.kind.send) yield compareUnits(minute, units[n] ?? none, idle, requestsOfKind(acceptance));
  },
};

type Minute = Awaited<ReturnType<typeof sendForMinute>>;

/** Sends the requests of a kind at the start of a minute. @returns when it started and what it took, in milliseconds */
async function sendForMinute(acceptance: Acceptance, prepared: Prepared, kind: Kind) {
  const start = await nextMinute(acceptance);
  const began = acceptance.now();
  const statuses = new Set<number>();
  for (let sent = 0; sent < requestsOfKind(acceptance) && kind.send; sent++)
    statuses.add((await kind.send(acceptance, prepared, sent)).status);
  return { kind, start, took: acceptance.now() - began, statuses };
}

/** A query of a metric's value in each minute. */
const minutely = (Id: string, Stat: string, Metric: Metric) => ({
  Id,
  MetricStat: { Metric, Period: 60, Stat },
});

/** The age of the oldest change that the maintainer read since the run started, that of the phase `counting` included. */
async function streamAge(
  { cloudWatch, functionNames }: AwsStage,
  { startedAt, now }: Acceptance,
): Promise<Finding> {
  const FunctionName = functionNames["maintain-counts"];
  const { MetricDataResults: [age] = [] } = await cloudWatch.send(
    new GetMetricDataCommand({
      StartTime: new Date(startedAt),
      EndTime: new Date(now()),
      MetricDataQueries: [
        minutely("age", "Maximum", {
          ...{ Namespace: "AWS/Lambda", MetricName: "IteratorAge" },
          Dimensions: [{ Name: "FunctionName", Value: FunctionName }],
        }),
      ],
    }),
  );
  const expected = `at most ${countedWithin} s`;
  const comparison = { check: "The age of the stream", page: assumption("counting-lag"), expected };
  const values = age?.Values ?? [];
  if (values.length === 0) return notSeen(comparison, "CloudWatch has no IteratorAge");
  const seconds = Math.max(...values) / 1000;
  return compared(comparison, `${seconds.toFixed(1)} s`, seconds <= countedWithin);
}

interface Prepared {
  /** One for each request, which the authorizer's cache does not have. */
  readonly keys: readonly string[];
  readonly leadId: string;
  /** A source that many leads have. */
  readonly source: string;
  /** The Idempotency-Key of a lead that exists. */
  readonly repeated: string;
  /** The number of pages of all leads, of 20. */
  readonly pages: number;
}

interface Kind {
  readonly name: string;
  /** The name that docs/deploying.md has for it, if it is another one. */
  readonly of?: string;
  /** The section of docs/assumptions.md, if it is another one than that of most requests. */
  readonly page?: string;
  /** Read units above those of the documentation. */
  readonly extraReads?: number;
  /** Whether the documentation has the most that it costs, such as that of a page of a million leads. */
  readonly atMost?: true;
  /** Undefined for the minute that shows what an unused stage consumes. */
  send?(acceptance: Acceptance, prepared: Prepared, n: number): Promise<HttpResponse>;
}

const key = () => ({ "idempotency-key": randomUUID() });
const lead = ({ source }: Pick<Prepared, "source">) => ({
  name: "Accept",
  email: "accept@example.com",
  source,
});

export const kinds: readonly Kind[] = [
  { name: "Nothing" },
  { name: "First page of leads", send: ({ mine }) => mine.get(leads) },
  {
    name: "The last page of leads",
    of: "Any page of 1,000,000 leads, unfiltered",
    atMost: true,
    send: ({ mine }, { pages }) => mine.get(`${leads}?page=${pages}`),
  },
  {
    name: "A page of leads, by source",
    of: "Any page of 1,000,000 leads, `status=new`",
    atMost: true,
    send: ({ mine }, { source }) => mine.get(`${leads}?source=${source}&page=2`),
  },
  {
    name: "First page of leads, with a key that is not in the cache",
    of: "First page of leads",
    extraReads: 2,
    send: ({ url }, { keys }, n) => new Client(url, keys[n]).get(leads),
  },
  {
    name: "A lead with an email address and a source",
    send: ({ mine }, prepared) => mine.post(leads, lead(prepared)),
  },
  {
    name: "A lead with an email address and a source, with `Idempotency-Key`",
    send: ({ mine }, prepared) => mine.post(leads, lead(prepared), key()),
  },
  {
    name: "A retry of that lead",
    of: "A lead with an email address and a source, with `Idempotency-Key`",
    page: "cancelled-transactions",
    atMost: true,
    send: ({ mine }, prepared) => mine.post(leads, lead(prepared), { "idempotency-key": prepared.repeated }),
  },
  {
    name: "A lead with an email address and a source, with `externalId`",
    send: ({ mine }, prepared) => mine.post(leads, { ...lead(prepared), externalId: unique("cost") }),
  },
  {
    name: "A change of a lead's name, by `externalId`",
    send: ({ mine }, { source }, n) =>
      mine.post(`${leads}?ifExists=update`, { externalId: source, name: `Accept ${n}` }),
  },
  {
    name: "A message that starts a conversation",
    send: ({ mine }, { leadId }, n) =>
      mine.post(conversations, { leadId, channel: `c${n}`, message: "Hello" }),
  },
  {
    name: "A message that joins a conversation",
    send: ({ mine }, { leadId }) => mine.post(conversations, { leadId, channel: "c0", message: "Hello" }),
  },
  {
    name: "A message that joins a conversation, with `Idempotency-Key`",
    send: ({ mine }, { leadId }) =>
      mine.post(conversations, { leadId, channel: "c0", message: "Hello" }, key()),
  },
];

async function prepare(acceptance: Acceptance): Promise<Prepared> {
  const { mine, accounts } = acceptance;
  const { issueKey, mine: account } = accounts;
  const keys: string[] = [];
  while (keys.length < requestsOfKind(acceptance)) keys.push((await issueKey(account)).apiKey);
  const source = unique("cost");
  const { id: leadId } = await mine.createLead({ source, externalId: source });
  for (let n = 0; n < 2 * requestsOfKind(acceptance); n++) await mine.createLead({ source });
  const repeated = randomUUID();
  await mine.post(leads, lead({ source }), { "idempotency-key": repeated });
  const pages = Math.ceil((await mine.count(leads)) / 20);
  return { keys, leadId, source, repeated, pages };
}

/** Waits until a minute begins. @returns its start, in milliseconds since the epoch */
async function nextMinute({ wait, now }: Acceptance): Promise<number> {
  const start = Math.ceil(now() / 60_000) * 60_000;
  // The clock of CloudWatch may be ahead or behind.
  await wait(start + 2000 - now());
  return start;
}

/** The units of the table and its indexes in a minute; undefined if CloudWatch has none of the table. */
interface Units {
  readonly reads: number | undefined;
  readonly writes: number | undefined;
}

const none: Units = { reads: undefined, writes: undefined };

const metrics = { reads: "ConsumedReadCapacityUnits", writes: "ConsumedWriteCapacityUnits" } as const;

/** The units of each minute. */
async function readUnits(stage: AwsStage, starts: readonly number[]): Promise<Units[]> {
  const table = { Name: "TableName", Value: stage.output("TableName") };
  const dimensions = [
    [table],
    ...Object.keys({ ...indexes, ...timeIndexes }).map((Value) => [
      table,
      { Name: "GlobalSecondaryIndexName", Value },
    ]),
  ];
  const { MetricDataResults = [] } = await stage.cloudWatch.send(
    new GetMetricDataCommand({
      StartTime: new Date(Math.min(...starts)),
      EndTime: new Date(Math.max(...starts) + 60_000),
      MetricDataQueries: Object.entries(metrics).flatMap(([unit, MetricName]) =>
        dimensions.map((Dimensions, n) =>
          minutely(`${unit}${n}`, "Sum", { Namespace: "AWS/DynamoDB", MetricName, Dimensions }),
        ),
      ),
    }),
  );
  const valueAt = (id: string, start: number) => {
    const { Timestamps = [], Values = [] } = MetricDataResults.find(({ Id }) => Id === id) ?? {};
    return Values[Timestamps.findIndex((time) => time.getTime() === start)];
  };
  // Without the units of the table, those of an index say nothing.
  const sumAt = (unit: keyof Units, start: number) => {
    const [ofTable, ...ofIndexes] = dimensions.map((_, n) => valueAt(`${unit}${n}`, start));
    return ofTable === undefined ? undefined : sum([ofTable, ...ofIndexes.map((units = 0) => units)]);
  };
  return starts.map((start) => ({ reads: sumAt("reads", start), writes: sumAt("writes", start) }));
}

/** What a kind of request may cost, by the documentation. */
function expectedUnits({ name, of = name, page = "units-of-requests", extraReads = 0, atMost }: Kind) {
  const documented = readCosts().get(of);
  if (!documented) throw new Error(`docs/deploying.md has no cost of ${of}.`);
  const [writes, reads] = [documented.writes - limiterWrites, documented.reads + extraReads];
  const part = atMost ? 0 : tolerance.least;
  const least: Cost = { writes: writes * part, reads: reads * part };
  const most: Cost = { writes: writes * tolerance.most + 1, reads: reads * tolerance.most };
  const range = (unit: keyof Cost) => `${least[unit].toFixed(2)} to ${most[unit].toFixed(2)}`;
  const expected = `${range("writes")} W and ${range("reads")} R`;
  return { least, most, comparison: { check: name, page: assumption(page), expected } };
}

export function compareUnits(
  { kind, took, statuses }: Minute,
  seen: Units,
  idle: Units,
  requests: number,
): Finding {
  const { least, most, comparison } = expectedUnits(kind);
  const failed = [...statuses].filter((status) => status >= 300);
  if (failed.length > 0) return compared(comparison, `requests returned ${failed.join(" and ")}`);
  if (took > longest)
    return notSeen(comparison, `the requests took ${Math.round(took / 1000)} s, too much of their minute`);
  if (seen.reads === undefined || (seen.writes === undefined && least.writes > 0))
    return notSeen(comparison, "CloudWatch has no units of the table in that minute");
  const reads = (seen.reads - (idle.reads ?? 0)) / requests;
  const writes = ((seen.writes ?? 0) - (idle.writes ?? 0)) / requests;
  const dollars = 1000 * (writes * unitPrices.write + reads * unitPrices.read);
  return compared(
    comparison,
    `${writes.toFixed(2)} W and ${reads.toFixed(2)} R, ${dollars.toFixed(4)} dollars for a thousand`,
    writes >= least.writes && writes <= most.writes && reads >= least.reads && reads <= most.reads,
  );
}
