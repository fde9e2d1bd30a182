/**
 * Measures the most expensive requests that an account's rate limit allows, on an embedded DynamoDB that counts units as AWS
 * does, and computes what they would cost.
 *
 * Writes docs/bench/attack-costs.md.
 *
 * Usage: npm run bench:attack-costs
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { report } from "./attack-costs/report.ts";
import { buildLeads } from "./pages/leads.ts";
import { startWorld } from "./pages/world.ts";

// The engine imports at least one row.
const world = await startWorld([buildLeads("someone-else", 1)]);
try {
  // The modules of the table's client read the environment when they are loaded.
  const { measureRequests } = await import("./attack-costs/requests.ts");
  const text = report(await measureRequests(), new Date());
  console.log(text);
  await writeFile(join(import.meta.dirname, "../../docs/bench/attack-costs.md"), text);
} finally {
  await world.stop();
}
