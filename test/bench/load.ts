/**
 * Loads the whole service on this machine with all kinds of requests, over more and more connections. Writes
 * docs/bench/load.md; exits 1 after a response with an unexpected status.
 *
 * Usage: npm run bench:load
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createHistogram } from "node:perf_hooks";
import autocannon from "autocannon";
import { number, writeTable } from "./report.ts";

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

/** Two reads for each write. Messages are sent to one lead after another, and join conversations. */
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

/** Sends requests, and reads the status and the time of every response. @returns the cells of a row */
async function load(options: Partial<autocannon.Options>) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const all = { url, duration: seconds, timeout: 35, idReplacement: true, headers };
  const instance = autocannon({ ...all, requests, ...options }, () => {});
  const times = createHistogram();
  instance.on("response", (_, status, __, milliseconds) => {
    // A histogram records only whole numbers.
    if (status < 300) times.record(Math.max(1, Math.round(milliseconds * 1000)));
  });
  const result: autocannon.Result = (await once(instance, "done"))[0];
  const statuses = Object.entries(result.statusCodeStats ?? {});
  if (result.errors > 0) statuses.push(["no response", { count: result.errors }]);
  const others = statuses.filter(([status]) => !/^20[01]$/.test(status));
  hasFailed ||= others.length > 0;
  return {
    "requests a second": number(times.count / result.duration, 0),
    "p50 (ms)": number(times.percentile(50) / 1000),
    p99: number(times.percentile(99) / 1000),
    worst: number(times.max / 1000),
    "other responses":
      others.map(([status, { count = 0 }]) => `${number(count)} × ${status}`).join(", ") || "none",
  };
}

// Creates the leads that get messages, and starts the environments that the connections need.
await load({ requests: requests.slice(0, 1), connections: 4, amount: 100 });
await load({ connections: 4, amount: 120 });

const levels = [];
for (const connections of [1, 4, 16]) levels.push({ connections, ...(await load({ connections })) });
service.disconnect();
await writeTable("bench/load.md", levels, true);
if (hasFailed) process.exitCode = 1;
