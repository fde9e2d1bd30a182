/**
 * Loads the whole service on this machine with all kinds of requests, over more and more connections. Writes
 * docs/bench/load.md; exits 1 after a response with an unexpected status.
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

/** How long each load lasts, in seconds. */
const seconds = 10;

const service = fork(join(import.meta.dirname, "load/service.ts"));
const [{ url, apiKey }] = (await once(service, "message")) as [{ url: string; apiKey: string }];

const get = (path: string): autocannon.Request => ({ method: "GET", path: `/api/v1/${path}` });
const post = (path: string, rest: autocannon.Request): autocannon.Request => ({
  ...{ method: "POST", path: `/api/v1/${path}`, headers: { "content-type": "application/json" } },
  ...rest,
});

const leadIds: string[] = [];
let sent = 0;

/** Two reads for each write. Messages go to the leads by turns, and join conversations. */
const requests: autocannon.Request[] = [
  post("leads", {
    body: JSON.stringify({ name: "Lead [<id>]", email: "lead@example.com", source: "website" }),
    onResponse: (status, body) => void (status === 201 && leadIds.push(JSON.parse(body).id)),
  }),
  get("leads"),
  get("leads?source=website&status=new"),
  post("conversations", {
    setupRequest: (request) => {
      const leadId = leadIds[sent++ % leadIds.length];
      return { ...request, body: JSON.stringify({ leadId, channel: "email", message: "Hello" }) };
    },
  }),
  get("conversations"),
  get("conversations?channel=email"),
];

let hasFailed = false;

/** Sends requests, and reads the status and the time of every response. @returns the cells of a table */
async function load(options: Partial<autocannon.Options>) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const all = { url, duration: seconds, timeout: 35, idReplacement: true, headers };
  const instance = autocannon({ ...all, requests, ...options }, () => {});
  const times = createHistogram();
  instance.on("response", (_, status, __, milliseconds) => {
    // A histogram has whole numbers.
    if (status < 300) times.record(Math.max(1, Math.round(milliseconds * 1000)));
  });
  const result: autocannon.Result = (await once(instance, "done"))[0];
  const statuses = Object.entries(result.statusCodeStats ?? {});
  if (result.errors > 0) statuses.push(["no response", { count: result.errors }]);
  const others = statuses.filter(([status]) => !/^20[01]$/.test(status));
  hasFailed ||= others.length > 0;
  return [
    number(times.count / result.duration, 0),
    ...[times.percentile(50), times.percentile(99), times.max].map((time) => number(time / 1000)),
    others.map(([status, { count = 0 }]) => `${number(count)} × ${status}`).join(", ") || "none",
  ];
}

// The first leads, to which messages go, and the environments that the connections need.
await load({ requests: requests.slice(0, 1), connections: 4, amount: 100 });
await load({ connections: 4, amount: 120 });

const levels = [];
for (const connections of [1, 4, 16]) levels.push([connections, ...(await load({ connections }))]);
service.disconnect();

const head = ["requests a second", "p50 (ms)", "p99", "worst", "other responses"];
const machine = `${cpus().length} × ${cpus()[0]?.model}, ${number(totalmem() / 2 ** 30, 0)} GB`;
const text = `# The service under load

Measured by \`npm run bench:load\` (${new Date().toISOString().slice(0, 10)}, Node ${process.version}) with autocannon. The service runs as with \`npm start\`: the deployed bundles, the permission proxy, the stream and the embedded DynamoDB, with a new data directory. It shares the machine (${machine}) with the client, so times and throughput are not those of AWS; compare only figures of one run. The status of every response was read: figures are of those with 200 and 201, and the last column counts all others.

Each connection sends all kinds of requests in turn for ${seconds} s, two reads for each write, each after a response. A function has at most ten environments, as in a new AWS account; further requests wait, as the p99 at 16 connections shows. [capacity.md](../capacity.md) has what AWS takes.

${table(["connections", ...head], levels)}
`;
console.log(text);
await writeFile(join(import.meta.dirname, "../../docs/bench/load.md"), text);
if (hasFailed) process.exitCode = 1;
