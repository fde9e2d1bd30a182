import { randomUUID } from "node:crypto";
import { GetMetricDataCommand, type MetricDataQuery } from "@aws-sdk/client-cloudwatch";
import { indexes } from "../../../shared/dynamodb/keys.ts";
import { conversations, leads, unique } from "../../contract/account.ts";
import { Client } from "../../contract/client.ts";
import type { AwsStage } from "../aws-stage.ts";
import { type Cost, limiterWrites, readCosts, unitPrices } from "../docs-figures.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";
import { countedWithin } from "./counting.ts";

/** How many requests of a kind are sent in its minute. */
export const requests = 20;

/** How much more than documented a figure may be: metrics of CloudWatch are whole units. */
const tolerance = 1.1;

/** How long CloudWatch may take to have the units of a minute, in milliseconds. */
const metricLag = 240_000;

/** What each kind of request costs: each has a minute of its own on a stage that nobody else uses, by CloudWatch. */
export const cost: Phase = {
  name: "cost",
  minutes: 18,
  needs: "aws",
  async *run(acceptance) {
    const minutes: { readonly kind: Kind; readonly start: number }[] = [];
    const prepared = await prepare(acceptance);
    for (const [n, kind] of kinds.entries()) {
      acceptance.note(`minute ${n + 1} of ${kinds.length}: ${kind.name}`);
      const start = await nextMinute(acceptance);
      for (let sent = 0; sent < requests; sent++) await kind.send?.(acceptance, prepared, sent);
      minutes.push({ kind, start });
    }
    acceptance.note("waiting for the metrics of the last minute");
    await nextMinute(acceptance);
    await acceptance.wait(metricLag);
    const { aws } = acceptance as { aws: AwsStage };
    const units = await readUnits(aws, minutes[0]?.start ?? 0, minutes.length);
    const idle = units[0] ?? { reads: 0, writes: 0 };
    const costs = readCosts();
    yield await streamAge(aws, acceptance);
    for (const [n, { kind }] of minutes.entries()) {
      if (!kind.send) continue;
      const documented = costs.get(kind.of ?? kind.name);
      if (!documented) throw new Error(`docs/deploying.md has no cost of ${kind.of ?? kind.name}.`);
      const { reads, writes } = units[n] ?? idle;
      yield compareUnits(kind, documented, {
        reads: (reads - idle.reads) / requests,
        writes: (writes - idle.writes) / requests,
      });
    }
  },
};

/** The age of the oldest change that the maintainer read since the run started, that of the phase `counting` included. */
async function streamAge(
  { cloudWatch, functionNames }: AwsStage,
  { startedAt, now }: Acceptance,
): Promise<Finding> {
  const FunctionName = functionNames["maintain-counts"] ?? "";
  const { MetricDataResults: [age] = [] } = await cloudWatch.send(
    new GetMetricDataCommand({
      StartTime: new Date(startedAt),
      EndTime: new Date(now()),
      MetricDataQueries: [
        {
          Id: "age",
          MetricStat: {
            Metric: {
              Namespace: "AWS/Lambda",
              MetricName: "IteratorAge",
              Dimensions: [{ Name: "FunctionName", Value: FunctionName }],
            },
            Period: 60,
            Stat: "Maximum",
          },
        },
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
  /** Undefined for the minute that shows what an unused stage consumes. */
  send?(acceptance: Acceptance, prepared: Prepared, n: number): Promise<unknown>;
}

const key = () => ({ "idempotency-key": randomUUID() });
const lead = ({ source }: Pick<Prepared, "source">) => ({
  name: "Accept",
  email: "accept@example.com",
  source,
});
const anyPage = "Any page of 1,000,000 leads, unfiltered";
const ofStatus = "Any page of 1,000,000 leads, `status=new`";

export const kinds: readonly Kind[] = [
  { name: "Nothing" },
  { name: "First page of leads", send: ({ mine }) => mine.get(leads) },
  {
    name: "The last page of leads",
    of: anyPage,
    send: ({ mine }, { pages }) => mine.get(`${leads}?page=${pages}`),
  },
  {
    name: "A page of leads, by status",
    of: ofStatus,
    send: ({ mine }) => mine.get(`${leads}?status=new&page=3`),
  },
  {
    name: "A page of leads, by source",
    of: ofStatus,
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
    send: ({ mine }, prepared) => mine.post(leads, lead(prepared), { "idempotency-key": prepared.repeated }),
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

async function prepare({ mine, accounts }: Acceptance): Promise<Prepared> {
  const { issueKey, mine: account } = accounts as NonNullable<Acceptance["accounts"]>;
  const keys: string[] = [];
  while (keys.length < requests) keys.push((await issueKey(account)).apiKey);
  const source = unique("cost");
  const { id: leadId } = await mine.createLead({ source });
  for (let n = 0; n < 40; n++) await mine.createLead({ source });
  const repeated = randomUUID();
  await mine.post(leads, lead({ source }), { "idempotency-key": repeated });
  return { keys, leadId, source, repeated, pages: Math.ceil((await mine.count(leads)) / 20) };
}

/** Waits until a minute begins. @returns its start, in milliseconds since the epoch */
async function nextMinute({ wait, now }: Acceptance): Promise<number> {
  const start = Math.ceil(now() / 60_000) * 60_000;
  // The clock of CloudWatch may be ahead or behind.
  await wait(start + 2000 - now());
  return start;
}

/** The units of the table and its indexes in each minute. */
async function readUnits({ cloudWatch, outputs }: AwsStage, start: number, minutes: number) {
  const TableName = outputs.TableName ?? "";
  const of = (MetricName: string) =>
    [undefined, ...Object.keys(indexes)].map(
      (index, n): MetricDataQuery => ({
        Id: `${MetricName === "ConsumedReadCapacityUnits" ? "reads" : "writes"}${n}`,
        MetricStat: {
          Metric: {
            Namespace: "AWS/DynamoDB",
            MetricName,
            Dimensions: [
              { Name: "TableName", Value: TableName },
              ...(index === undefined ? [] : [{ Name: "GlobalSecondaryIndexName", Value: index }]),
            ],
          },
          Period: 60,
          Stat: "Sum",
        },
      }),
    );
  const { MetricDataResults = [] } = await cloudWatch.send(
    new GetMetricDataCommand({
      StartTime: new Date(start),
      EndTime: new Date(start + 60_000 * minutes),
      MetricDataQueries: [...of("ConsumedReadCapacityUnits"), ...of("ConsumedWriteCapacityUnits")],
    }),
  );
  const units = Array.from({ length: minutes }, () => ({ reads: 0, writes: 0 }));
  for (const { Id = "", Timestamps = [], Values = [] } of MetricDataResults)
    for (const [i, time] of Timestamps.entries()) {
      const minute = units[Math.round((time.getTime() - start) / 60_000)];
      if (minute) minute[Id.startsWith("reads") ? "reads" : "writes"] += Values[i] ?? 0;
    }
  return units;
}

function compareUnits(
  { name, page = "units-of-requests", extraReads = 0 }: Kind,
  documented: Cost,
  seen: Cost,
): Finding {
  const most = {
    writes: (documented.writes - limiterWrites) * tolerance + 1,
    reads: (documented.reads + extraReads) * tolerance,
  };
  const expected = `at most ${most.writes.toFixed(2)} W and ${most.reads.toFixed(2)} R`;
  const dollars = 1000 * (seen.writes * unitPrices.write + seen.reads * unitPrices.read);
  return compared(
    { check: name, page: assumption(page), expected },
    `${seen.writes.toFixed(2)} W and ${seen.reads.toFixed(2)} R, ${dollars.toFixed(4)} dollars for a thousand`,
    seen.writes <= most.writes && seen.reads <= most.reads,
  );
}
