/**
 * Measures how twelve connections that list the 5,000 conversations of one lead without a pause, each with a filter that
 * none matches, affect another account, which lists its leads ten times a second. The table throttles each partition
 * key over the limits of AWS; the accounts have no rate limit.
 *
 * Writes docs/bench/one-lead.md. Usage: npm run bench:one-lead, in about three minutes on an idle machine.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type ApiRequest, openConnections } from "./load/connections.ts";
import { startService } from "./load/service.ts";
import { number, table } from "./markdown.ts";

const greedyConnections = 12;
const rounds = 5;

/** The length of each half of a round, in seconds. */
const seconds = 15;

/** Lists of the quiet account per second. */
const quietRate = 10;

interface Round {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  /** The number of responses to the greedy account by status. */
  readonly greedy: ReadonlyMap<number, number>;
}

const settings = { throttleRate: 5000, throttleBurst: 5000, rateLimitRequests: 1_000_000 };
const service = await startService("one-lead", settings, true);
try {
  const [greedyKey, quietKey] = [await service.issueKey("greedy"), await service.issueKey("quiet")];
  const leadId = await service.createConversations("greedy");
  const greedy = openConnections(service.url, greedyConnections);
  const quiet = openConnections(service.url, 32);
  const leads = { path: "/api/v1/leads", apiKey: quietKey };
  for (let n = 0; n < 100; n++) await quiet.send({ ...leads, method: "POST", body: { name: `Lead ${n}` } });
  const query = `leadId=${leadId}&limit=1&status=nobody`;
  const greedyList: ApiRequest = {
    ...{ method: "GET", path: `/api/v1/conversations?${query}` },
    apiKey: greedyKey,
  };

  const listQuietly = () =>
    paced(async () => {
      const { status } = await quiet.send({ ...leads, method: "GET" });
      if (status !== 200) throw new Error(`A list of the quiet account returned ${status}.`);
    });
  const round = async (): Promise<Round> => {
    const alone = await listQuietly();
    const responses = new Map<number, number>();
    let more = true;
    const connection = async () => {
      while (more) {
        const { status } = await greedy.send(greedyList);
        responses.set(status, (responses.get(status) ?? 0) + 1);
      }
    };
    const connections = Array.from({ length: greedyConnections }, connection);
    const beside = await listQuietly();
    more = false;
    await Promise.all(connections);
    return { alone, beside, greedy: responses };
  };

  await round();
  const results: Round[] = [];
  for (let n = 0; n < rounds; n++) results.push(await round());
  const text = report(results);
  console.log(text);
  await writeFile(join(import.meta.dirname, "..", "..", "docs", "bench", "one-lead.md"), text);
} finally {
  await service.stop();
}

/** Calls at a steady rate. @returns how long each took from when it was due, in milliseconds */
async function paced(call: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  const calls: Promise<unknown>[] = [];
  const start = performance.now();
  for (let n = 0; n < quietRate * seconds; n++) {
    const due = start + (n * 1000) / quietRate;
    await setTimeout(Math.max(0, due - performance.now()));
    calls.push(call().then(() => times.push(performance.now() - due)));
  }
  await Promise.all(calls);
  return times;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;
}

function report(results: readonly Round[]): string {
  const rows = results.map(({ alone, beside, greedy }, n) => [
    n + 1,
    ...[0.5, 0.99].flatMap((share) => [alone, beside].map((times) => number(quantile(times, share)))),
    number(quantile(beside, 0.99) / quantile(alone, 0.99), 2),
    [...greedy].map(([status, count]) => `${number(count)} × ${status}`).join(", "),
  ]);
  return `# One lead with 5,000 conversations

Measured by \`npm run bench:one-lead\` on this machine: ${greedyConnections} connections of one account list the conversations of one lead
with \`limit=1&status=nobody\`, each request after the response to the one before, without waiting after a 503. Another
account lists its leads ${quietRate} times a second. The table throttles each partition key over 3,000 read units a second.

${table(
  [
    "round",
    "p50 alone (ms)",
    "p50 beside",
    "p99 alone",
    "p99 beside",
    "p99 beside / alone",
    "responses to the greedy account",
  ],
  rows,
)}
`;
}
