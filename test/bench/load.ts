/**
 * Loads the whole service on this machine: each kind of request, a mixed load over more and more connections, and an account
 * over its rate limit beside one within it. Writes docs/bench/load.md; exits 1 after a response with an unexpected status.
 *
 * Usage: npm run bench:load
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { createHistogram } from "node:perf_hooks";
import autocannon from "autocannon";
import { number, table } from "./markdown.ts";

/** How long each load lasts, and the one of neighbours: a window of the rate limit; in seconds. */
const [seconds, windowSeconds] = [10, 60];

/** The requests a second of the quiet and of the greedy neighbour, and what the latter may send in a window: a third. */
const [quietRate, greedyRate, greedyLimit] = [10, 45, 900];

const limits = { quiet: 1e9, greedy: greedyLimit };
const service = fork(join(import.meta.dirname, "load/service.ts"), [JSON.stringify(limits)]);
type Account = keyof typeof limits;
const [{ url, keys }] = (await once(service, "message")) as [{ url: string; keys: Record<Account, string> }];

const get = (path: string): autocannon.Request => ({ method: "GET", path: `/api/v1/${path}` });
const post = (path: string, rest: autocannon.Request): autocannon.Request => ({
  ...{ method: "POST", path: `/api/v1/${path}`, headers: { "content-type": "application/json" } },
  ...rest,
});

/** The requests of an account: two reads for each write. Messages go to its leads by turns, and join conversations. */
function requestsOf(): Readonly<Record<string, autocannon.Request>> {
  const leadIds: string[] = [];
  let sent = 0;
  return {
    "create lead": post("leads", {
      body: JSON.stringify({ name: "Lead [<id>]", email: "lead@example.com", source: "website" }),
      onResponse: (status, body) => void (status === 201 && leadIds.push(JSON.parse(body).id)),
    }),
    "list leads": get("leads"),
    "list leads, filtered": get("leads?source=website&status=new"),
    "send message": post("conversations", {
      setupRequest: (request) => {
        const leadId = leadIds[sent++ % leadIds.length];
        return { ...request, body: JSON.stringify({ leadId, channel: "email", message: "Hello" }) };
      },
    }),
    "list conversations": get("conversations"),
    "list conversations, filtered": get("conversations?channel=email"),
  };
}

const requests = { quiet: requestsOf(), greedy: requestsOf() };
const expected = { quiet: /^20[01]$/, greedy: /^(20[01]|429)$/ };
let hasFailed = false;

/** Sends requests of an account, and reads the status and the time of every response. @returns the cells of a table */
async function load(account: Account, options: Partial<autocannon.Options>) {
  const headers = { authorization: `Bearer ${keys[account]}` };
  const all = { url, duration: seconds, timeout: 35, idReplacement: true, headers };
  const instance = autocannon({ ...all, requests: Object.values(requests[account]), ...options }, () => {});
  const times = createHistogram();
  instance.on("response", (_, status, __, milliseconds) => {
    // A histogram has whole numbers.
    if (status < 300) times.record(Math.max(1, Math.round(milliseconds * 1000)));
  });
  const result: autocannon.Result = (await once(instance, "done"))[0];
  const statuses = Object.entries(result.statusCodeStats ?? {});
  if (result.errors > 0) statuses.push(["no response", { count: result.errors }]);
  hasFailed ||= statuses.some(([status]) => !expected[account].test(status));
  const others = statuses.filter(([status]) => !expected.quiet.test(status));
  return [
    number(times.count / result.duration, 0),
    ...[times.percentile(50), times.percentile(99), times.max].map((time) => number(time / 1000)),
    others.map(([status, { count = 0 }]) => `${number(count)} × ${status}`).join(", ") || "none",
  ];
}

// The first leads, to which messages go, and the environments that the connections need.
for (const account of ["quiet", "greedy"] as const) {
  await load(account, {
    requests: Object.values(requests[account]).slice(0, 1),
    connections: 4,
    amount: 100,
  });
  await load(account, { connections: 4, amount: 120 });
}

const kinds = [];
for (const [kind, request] of Object.entries(requests.quiet))
  kinds.push([kind, ...(await load("quiet", { requests: [request], connections: 4 }))]);
const levels = [];
for (const connections of [1, 2, 4, 8, 16, 32])
  levels.push([connections, ...(await load("quiet", { connections }))]);
const neighbour = { connections: 8, overallRate: quietRate, duration: windowSeconds };
const alone = await load("quiet", neighbour);
const [beside, greedy] = await Promise.all([
  load("quiet", neighbour),
  load("greedy", { ...neighbour, overallRate: greedyRate }),
]);
service.disconnect();

const head = ["requests a second", "p50 (ms)", "p99", "worst", "other responses"];
const machine = `${cpus().length} × ${cpus()[0]?.model}, ${number(totalmem() / 2 ** 30, 0)} GB`;
const text = `# The service under load

Measured by \`npm run bench:load\` (${new Date().toISOString().slice(0, 10)}, Node ${process.version}) with autocannon. The service runs as with \`npm start\`: the deployed bundles, the permission proxy, the stream and the embedded DynamoDB, with a new data directory. It shares the machine (${machine}) with the client, so times and throughput are not those of AWS; compare only figures of one run. The status of every response was read: figures are of those with 200 and 201, and the last column counts all others.

## Each kind of request

Over four connections for ${seconds} s; each sends its next request after a response.

${table(["", ...head], kinds)}

## Growing load

All kinds in turn, two reads for each write. A function has at most ten environments, as in a new AWS account; further requests wait.

${table(["connections", ...head], levels)}

## A greedy neighbour

The quiet account sends ${quietRate} requests a second, first alone for ${windowSeconds} s, then for as long beside the greedy one. That one sends ${greedyRate} a second, three times what it may: ${greedyLimit} in a window of ${windowSeconds} s. Its load touches two windows.

${table(
  ["", ...head],
  [
    ["quiet, alone", ...alone],
    ["quiet, beside the greedy one", ...beside],
    ["greedy", ...greedy],
  ],
)}
`;
console.log(text);
await writeFile(join(import.meta.dirname, "../../docs/bench/load.md"), text);
if (hasFailed) process.exitCode = 1;
