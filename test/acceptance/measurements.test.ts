import {
  CloudWatchClient,
  GetMetricDataCommand,
  type GetMetricDataCommandInput,
} from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogsClient, FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { beforeEach, expect, test, vi } from "vitest";
import { functionNames } from "../../lib/bundling/bundle.ts";
import { Account } from "../contract/account.ts";
import { Client } from "../contract/client.ts";
import { mockClient } from "../support/mocked-client.ts";
import { accept } from "./acceptance.ts";
import { readCosts } from "./docs-figures.ts";
import type { Acceptance } from "./phase.ts";
import { ownLimit } from "./phases/contract.ts";
import { cost, kinds } from "./phases/cost.ts";
import { counting } from "./phases/counting.ts";
import { keys } from "./phases/keys.ts";
import { times } from "./phases/times.ts";

const cloudWatch = mockClient(CloudWatchClient);
const logs = mockClient(CloudWatchLogsClient);
/** The status of a revoked key's requests, by the seconds since it was revoked. */
let statusAfter: (seconds: number) => number;
let statusOfRevoked: number;
beforeEach(() => {
  for (const client of [cloudWatch, logs]) client.reset();
  statusAfter = () => 200;
  statusOfRevoked = 200;
  const body = { id: "lead_1", data: [], pagination: { total: 20 } };
  vi.spyOn(Client.prototype, "sendOnce").mockImplementation(async ({ method, path }) => {
    const status = method === "POST" ? 201 : statusOfRevoked;
    const headers = { "ratelimit-policy": `"account";q=${ownLimit};w=60` };
    return { request: path, status, headers, bytes: Buffer.of(), body };
  });
});

/** Two requests of each kind. */
const load = 2;

/** What a phase finds that is not as assumed, on a stage whose clock only waits move. */
async function differences(phase: typeof cost, settings: object = {}) {
  let time = Date.parse("2026-11-25T02:00:00Z");
  let revokedAt = Number.POSITIVE_INFINITY;
  const aws = {
    ...{ stackName: "stack", output: (name: string) => name, logGroups: functionNames },
    functionNames: Object.fromEntries(functionNames.map((name) => [name, name])),
    ...{ cloudWatch: new CloudWatchClient({}), logs: new CloudWatchLogsClient({}) },
  };
  const acceptance = {
    ...{ name: "fresh", url: "http://127.0.0.1:1", aws, settings, load, startedAt: time },
    ...{ signal: new AbortController().signal, note: () => {}, cleanUp: new AsyncDisposableStack() },
    ...{ mine: new Account("http://127.0.0.1:1", "key"), wasThrottled: true },
    accounts: {
      ...{ mine: "accept-1", issueKey: async () => ({ apiKey: "key" }), setLimit: async () => {} },
      revokeKey: async () => {
        revokedAt = time;
      },
      // Everything is counted.
      pace: { retry: async () => ({ rows: [] }) },
    },
    now: () => time,
    wait: async (milliseconds: number) => {
      time += milliseconds;
      statusOfRevoked = statusAfter((time - revokedAt) / 1000);
    },
  } as unknown as Acceptance;
  const { ended, findings } = await accept(acceptance, [phase]);
  expect(ended).toBeUndefined();
  return findings
    .filter(({ verdict }) => verdict !== "as assumed")
    .map(({ verdict, check, seen }) => `${verdict}, ${check}: ${seen}`);
}

/** Units that the stage consumes in each minute by itself. */
const background = 7;

/** CloudWatch, in which some kinds consume other units than documented, or have none; and the stream has an age. */
function measure(factors: Readonly<Record<string, number | undefined>>, ageSeconds: number) {
  const minutes = kinds.map(({ name, of = name, extraReads = 0 }) => {
    const { reads, writes } = readCosts().get(of) ?? { reads: -extraReads, writes: 0 };
    const factor = name in factors ? factors[name] : 1;
    return factor === undefined
      ? undefined
      : {
          ConsumedReadCapacityUnits: background + factor * load * (reads + extraReads),
          ConsumedWriteCapacityUnits: background + factor * load * writes,
        };
  });
  cloudWatch
    .on(GetMetricDataCommand)
    .callsFake(({ StartTime, MetricDataQueries = [] }: GetMetricDataCommandInput) => ({
      MetricDataResults: MetricDataQueries.map(({ Id, MetricStat }) => {
        const { MetricName = "", Dimensions = [] } = MetricStat?.Metric ?? {};
        if (MetricName === "IteratorAge") return { Id, Values: [0, 1000 * ageSeconds] };
        const isIndex = Dimensions.length > 1;
        const found = minutes.flatMap((units, n) => {
          const value = units?.[MetricName as keyof typeof units];
          // The indexes have half of it, five of them.
          return value === undefined
            ? []
            : [{ time: new Date(Number(StartTime) + 60_000 * n), value: value * (isIndex ? 0.1 : 0.5) }];
        });
        return { Id, Timestamps: found.map(({ time }) => time), Values: found.map(({ value }) => value) };
      }),
    }));
}

test("a stage that costs what docs/deploying.md says differs in nothing", async () => {
  measure({}, 6);
  expect(await differences(cost)).toEqual([]);
});

test("the phase cost finds other units than documented and a stream that is late, and misses units that nobody has", async () => {
  const factors = {
    "A lead with an email address and a source": 0,
    "A message that joins a conversation": 2,
    "A retry of that lead": undefined,
  };
  measure(factors, 40);
  expect(await differences(cost)).toEqual([
    "differs, The age of the stream: 40.0 s",
    expect.stringMatching(/^differs, A lead with an email address and a source: 0\.00 W/),
    "not seen, A retry of that lead: CloudWatch has no units of the table in that minute",
    expect.stringMatching(/^differs, A message that joins a conversation: 12\.24 W and 4\.00 R, /),
  ]);
});

test("the phase cost sees no units beside a canary, which uses the table", async () => {
  measure({}, 6);
  const seen = await differences(cost, { canary: true });
  expect(seen).toHaveLength(kinds.length - 1);
  for (const text of seen)
    expect(text).toMatch(/^not seen, .*: the canary uses the table every five minutes$/);
});

/** The logs, in which each function has 100 calls, three of them slower, and 20 starts; the access log has none. */
function report(slowest: (name: string) => number, init: (name: string) => number) {
  const line = (durationMs: number, initDurationMs?: number) => ({
    message: JSON.stringify({
      type: "platform.report",
      record: { metrics: { durationMs, initDurationMs, memorySizeMB: 1024, maxMemoryUsedMB: 130 } },
    }),
  });
  logs.on(FilterLogEventsCommand).callsFake(({ logGroupName, nextToken }) => {
    if (logGroupName.startsWith("/aws/vendedlogs/")) return { events: [] };
    // A page may be empty although more follow.
    if (nextToken === undefined) return { events: [], nextToken: "0" };
    const calls = Array.from({ length: 100 }, (_, n) => line(n < 3 ? slowest(logGroupName) : 8));
    return { events: [...calls, ...Array.from({ length: 20 }, () => line(400, init(logGroupName)))] };
  });
}

test("the phase times finds slow starts and calls, and throttled requests that the access log does not have", async () => {
  report(
    (name) => (name === "list-conversations" ? 1200 : 40),
    (name) => (name === "create-lead" ? 900 : 180),
  );
  expect(await differences(times)).toEqual([
    "differs, The start of an environment of create-lead: 900 ms (median of 20)",
    "differs, A call of a warm list-conversations: 8.0 ms, p99 1200.0 ms (of 100)",
    "differs, The access log has requests that the throttle refused: no",
  ]);
});

test.each([
  ["as long as the cache may have it", (seconds: number) => (seconds < 2 ? 200 : 403), []],
  ["by a cache", (seconds: number) => (seconds < 9 ? 200 : 403), ["works for 8 s, then 403"]],
  ["by one of two nodes", (seconds: number) => (seconds % 2 ? 403 : 200), ["works for 12 s, then 200"]],
])("the phase keys finds a revoked key that is taken too long: %s", async (_, after, seen) => {
  statusAfter = after;
  const found = await differences(keys, { authorizerCacheSeconds: 2 });
  expect(found).toEqual(seen.map((text) => `differs, A revoked key: ${text}`));
});

test("the phase counting finds a request without a response while leads are created", async () => {
  const { createLead } = Account.prototype;
  vi.spyOn(Account.prototype, "createLead")
    .mockImplementationOnce(createLead)
    .mockRejectedValueOnce(new Error("socket hang up"));
  expect(await differences(counting)).toContain(
    "differs, 2 leads at 50 a second, and their lists: socket hang up",
  );
});
