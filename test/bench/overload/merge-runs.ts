import type { Results } from "./results.ts";

/** Joins the results with the same label: of each scenario, the last ones. The labels keep their order. */
export function mergeRuns(results: readonly Results[]): readonly Results[] {
  const merged = new Map<string, Results>();
  for (const result of results) merged.set(result.label, join(merged.get(result.label), result));
  return [...merged.values()];
}

function join(earlier: Results | undefined, later: Results): Results {
  if (!earlier) return later;
  const measured = Object.entries(later).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return { ...earlier, ...Object.fromEntries(measured), seconds: earlier.seconds + later.seconds };
}
