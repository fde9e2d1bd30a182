/**
 * Measures the most expensive requests that an account's rate limit allows, on a table in memory that counts units as
 * DynamoDB does, and computes what they would cost.
 *
 * Writes docs/bench/attack-costs.md.
 *
 * Usage: npm run bench:attack-costs
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { report } from "./attack-costs/report.ts";
import { measureRequests } from "./attack-costs/requests.ts";

const text = report(await measureRequests(), new Date());
console.log(text);
await writeFile(join(import.meta.dirname, "../../docs/bench/attack-costs.md"), text);
