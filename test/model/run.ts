/** Explores every scenario and prints its size. Arguments select scenarios whose names contain one of them. */
import { explore } from "./explore.ts";
import { scenarios } from "./scenarios.ts";

const parts = process.argv.slice(2);
const chosen = scenarios.filter(
  ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
);
if (chosen.length === 0) throw new Error(`No scenario has a name with ${parts.join(" or ")}.`);
for (const scenario of chosen) {
  const start = performance.now();
  try {
    const { states, tables, steps } = await explore(scenario);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const size = `${states} states, ${tables} of the table, ${steps} steps`;
    console.log(`✓ ${scenario.name}: ${size}, ${seconds} s`);
  } catch (error) {
    console.error(`✗ ${scenario.name}: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
