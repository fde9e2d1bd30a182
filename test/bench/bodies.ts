/**
 * Measures the processor time of requests that are made to be expensive, and that of a normal one, side by side: the
 * deployed bundle of create-lead, with the SDK, on a table that accepts every call. Exits 1 if a request costs more than
 * ten times as much as a normal one.
 *
 * Usage: npm run bench:bodies [-- ROUNDS]
 */
import { join } from "node:path";
import { bundle } from "../../lib/bundling/bundle.ts";
import { spread } from "../support/statistics.ts";
import { measure, startFunction } from "./bodies/function.ts";
import { normalRequest, requests } from "./bodies/requests.ts";
import { number, table } from "./markdown.ts";

/** The most that a request may cost, in normal requests. */
const mostExpensive = 10;

const rounds = Number(process.argv[2] ?? 11);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error("ROUNDS must be a whole number of at least 1.");

const root = join(import.meta.dirname, "..", "..");
const file = join(root, ".build", "bench", "bodies", "create-lead.cjs");
await bundle(join(root, "functions", "create-lead.ts"), file);
const { handler, stop } = await startFunction(file);

const all = [normalRequest, ...requests];
const times = new Map(all.map((request) => [request, [] as number[]]));
// The first round compiles the code.
for (let round = -1; round < rounds; round++) {
  for (const request of all) {
    const time = await measure(handler, request);
    if (round >= 0) times.get(request)?.push(time);
  }
}
await stop();

const cost = (request: (typeof all)[number]) => spread(times.get(request) ?? []).median;
const normal = cost(normalRequest);
const rows = all
  .toSorted((a, b) => cost(b) - cost(a))
  .map((request) => [
    request.name,
    request.status,
    number(Buffer.byteLength(request.body)),
    number(cost(request), 2),
    number(cost(request) / normal),
  ]);
console.log(`Node ${process.version}, median of ${rounds} rounds\n`);
console.log(table(["request", "status", "bytes of the body", "processor (ms)", "× normal"], rows));
const worst = Math.max(...all.map(cost)) / normal;
console.log(`\nThe most expensive request costs ${number(worst)} times as much as a normal one.`);
if (worst > mostExpensive) process.exitCode = 1;
