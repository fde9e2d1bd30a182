/**
 * Measures what compressed responses save and cost: pages of leads in each encoding, and the deployed bundle of list-leads
 * for callers that accept gzip and for those that do not.
 *
 * Writes docs/bench/compression.md. Exits with 1 if a page of 20 leads has more bytes than it may, or takes too
 * much of the function's time.
 *
 * Usage: npm run bench:compression [-- ROUNDS]
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundle } from "../../lib/bundling/bundle.ts";
import { ours } from "./compression/encodings.ts";
import { startFunction } from "./compression/function.ts";
import { largestPage, normalPages, smallPages } from "./compression/pages.ts";
import { report } from "./compression/report.ts";
import { measurePage, type Result } from "./compression/results.ts";

/** The most that a page of 20 leads may have when it is compressed, in bytes. */
const mostBytes = 2000;

/** The most that its compression may take, as a share of the time of the whole function. */
const mostTime = 0.1;

const rounds = Number(process.argv[2] ?? 11);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error("ROUNDS must be a whole number of at least 1.");

const root = join(import.meta.dirname, "..", "..");
const directory = join(root, ".build", "bench", "compression");
const results: Result[] = [];
for (const [n, page] of [...smallPages, ...normalPages, largestPage].entries()) {
  // Each file is another module, with its own client and table.
  const file = join(directory, String(n), "index.cjs");
  await bundle(join(root, "functions", "list-leads.ts"), file);
  const pageFunction = await startFunction(file, page);
  results.push(await measurePage(page, pageFunction, rounds));
  await pageFunction.stop();
}

const text = report(
  results,
  smallPages.map(({ name }) => name),
  ours.name,
  new Date(),
);
console.log(text);
await writeFile(join(root, "docs", "bench", "compression.md"), text);

const normal = results.find(({ name }) => name === normalPages[0]?.name);
const encoded = normal?.encoded.find(({ name }) => name === ours.name);
if (!normal || !encoded) throw new Error("A page of 20 leads was not measured.");
if (encoded.bytes > mostBytes || encoded.time > mostTime * normal.handled.plain) process.exitCode = 1;
