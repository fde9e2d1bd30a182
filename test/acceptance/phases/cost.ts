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
const quiet = 1000 * countedWithin;

/** How much of its minute a family may take, in milliseconds: the counting follows it. */
const longest = 40_000;

/** How long CloudWatch may take to have the units of a minute, in milliseconds. */
const metricLag = 240_000;

/** What requests cost: each family of them has a minute of its own on a stage that nobody else uses, by CloudWatch. */
export const cost: Phase = {
  name: "cost",
  minutes: 5,
  needs: "aws",
  async *run(acceptance, later) {
    const { aws, settings, note, wait, now } = acceptance as Acceptance & { aws: AwsStage };
    const minutes: Minute[] = [];
    if (settings.canary)
      for (const family of families)
        yield notSeen(expectedUnits(family).comparison, "the canary uses the table every five minutes");
    else {
      const prepared = await prepare(acceptance);
      await wait(quiet);
      for (const family of families) {
        note(`minute ${minutes.length + 1} of ${families.length}: ${family.name}`);
        minutes.push(await sendForMinute(acceptance, prepared, family));
      }
      // What follows must not cost anything in the last minute.
      await nextMinute(acceptance);
    }
    const end = now() + metricLag;
    later(async function* () {
      note("waiting for the metrics of the last minute");
      await wait(Math.max(0, end - now()));
      yield await streamAge(aws, acceptance);
      const units = minutes.length > 0 ? await readUnits(aws, minutes) : [];
      for (const [n, minute] of minutes.entries())
        yield compareUnits(minute, units[n] ?? none, requestsOfKind(acceptance));
    });
  },
};

type Minute = Awaited<ReturnType<typeof sendForMinute>>;

/** Sends the requests of a family at the start of a minute. @returns when it started and what it took, in milliseconds */
async function sendForMinute(acceptance: Acceptance, prepared: Prepared, family: Family) {
  const start = await nextMinute(acceptance);
  const began = acceptance.now();
  const statuses = new Set<number>();
  for (const { send } of family.kinds)
    for (let sent = 0; sent < requestsOfKind(acceptance); sent++)
      statuses.add((await send(acceptance, prepared, sent)).status);
  return { family, start, took: acceptance.now() - began, statuses };
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
  /** Read units above those of the documentation. */
  readonly extraReads?: number;
  /** Whether the documentation has the most that it costs, such as that of a page of a million leads. */
  readonly atMost?: true;
  send(acceptance: Acceptance, prepared: Prepared, n: number): Promise<HttpResponse>;
}

const key = () => ({ "idempotency-key": randomUUID() });
const lead = ({ source }: Pick<Prepared, "source">) => ({
  name: "Accept",
  email: "accept@example.com",
  source,
});

/** Requests whose units are compared together. */
export interface Family {
  readonly name: string;
  /** The section of docs/assumptions.md. */
  readonly page: string;
  readonly kinds: readonly Kind[];
}

const lists: readonly Kind[] = [
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
];

const createdLeads: readonly Kind[] = [
  {
    name: "A lead with an email address and a source",
    send: ({ mine }, prepared) => mine.post(leads, lead(prepared)),
  },
  {
    name: "A lead with an email address and a source, with `Idempotency-Key`",
    send: ({ mine }, prepared) => mine.post(leads, lead(prepared), key()),
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
];

const retries: readonly Kind[] = [
  {
    name: "A retry of that lead",
    of: "A lead with an email address and a source, with `Idempotency-Key`",
    atMost: true,
    send: ({ mine }, prepared) => mine.post(leads, lead(prepared), { "idempotency-key": prepared.repeated }),
  },
];

const messages: readonly Kind[] = [
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

export const families: readonly Family[] = [
  {
    name: "Pages of leads: the first, the last, by source, and with a new key",
    page: "units-of-requests",
    kinds: lists,
  },
  {
    name: "Leads: new, with a key, with an externalId, and changed",
    page: "units-of-requests",
    kinds: createdLeads,
  },
  { name: "A retry of a lead with its key", page: "cancelled-transactions", kinds: retries },
  {
    name: "Messages: in a new conversation, in an old one, and with a key",
    page: "units-of-requests",
    kinds: messages,
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
async function readUnits(stage: AwsStage, minutes: readonly Minute[]): Promise<Units[]> {
  const starts = minutes.map(({ start }) => start);
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

/** What a request of each kind may cost together, by the documentation. */
function expectedUnits({ name, page, kinds }: Family) {
  const costs = kinds.map((kind) => ({ ...documentedUnits(kind), ...kind }));
  const least = (unit: keyof Cost) =>
    tolerance.least * sum(costs.map((each) => (each.atMost ? 0 : each[unit])));
  const most = (unit: keyof Cost) => tolerance.most * sum(costs.map((each) => each[unit]));
  // The rate limit may cost a unit.
  const writes = [least("writes"), most("writes") + kinds.length] as const;
  const reads = [least("reads"), most("reads")] as const;
  const range = ([from, to]: readonly [number, number]) => `${from.toFixed(2)} to ${to.toFixed(2)}`;
  const expected = `${range(writes)} W and ${range(reads)} R`;
  return { writes, reads, comparison: { check: name, page: assumption(page), expected } };
}

/** What a request costs by the documentation, without the rate limit. */
function documentedUnits({ name, of = name, extraReads = 0 }: Kind): Cost {
  const documented = readCosts().get(of);
  if (!documented) throw new Error(`docs/deploying.md has no cost of ${of}.`);
  return { writes: documented.writes - limiterWrites, reads: documented.reads + extraReads };
}

export function compareUnits({ family, took, statuses }: Minute, seen: Units, requests: number): Finding {
  const { comparison, ...expected } = expectedUnits(family);
  const failed = [...statuses].filter((status) => status >= 300);
  if (failed.length > 0) return compared(comparison, `requests returned ${failed.join(" and ")}`);
  if (took > longest)
    return notSeen(comparison, `the requests took ${Math.round(took / 1000)} s, too much of their minute`);
  if (seen.reads === undefined || (seen.writes === undefined && expected.writes[0] > 0))
    return notSeen(comparison, "CloudWatch has no units of the table in that minute");
  const reads = seen.reads / requests;
  const writes = (seen.writes ?? 0) / requests;
  const dollars = 1000 * (writes * unitPrices.write + reads * unitPrices.read);
  return compared(
    comparison,
    `${writes.toFixed(2)} W and ${reads.toFixed(2)} R, ${dollars.toFixed(4)} dollars for a thousand`,
    isWithin(writes, expected.writes) && isWithin(reads, expected.reads),
  );
}

const isWithin = (units: number, [least, most]: readonly [number, number]) => units >= least && units <= most;
