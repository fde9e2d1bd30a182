import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where the tests of the deployed code are, and those of the tools around it; those of the whole API are too slow here. */
const areas = {
  deployed: ["functions", "lib/openapi", "model", "shared"],
  tools: ["lib"],
};

/** The tests of a mutant, those that import its source most directly first. */
export interface CoveringTests {
  /** Without an engine. */
  readonly unit: readonly string[];
  readonly integration: readonly string[];
}

/**
 * Finds the test files of the area of a source that import it, directly or through other files.
 *
 * @param root the directory of the project
 */
export function coveringTests(root: string): (source: string) => CoveringTests {
  const find = (area: readonly string[]) => {
    const tests = area.flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`, { cwd: root }));
    return tests.map((test) => ({ test, distances: measureDistances(root, test) }));
  };
  const [deployed, tools] = [find(areas.deployed), find(areas.tools)];
  return (source) => {
    const covering = (source.startsWith("lib/") ? tools : deployed)
      .map(({ test, distances }) => ({ test, distance: distances.get(source) ?? Number.POSITIVE_INFINITY }))
      .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
      .sort((a, b) => a.distance - b.distance)
      .map(({ test }) => test);
    const isIntegration = (test: string) => test.endsWith(".integration.test.ts");
    return {
      unit: covering.filter((test) => !isIntegration(test)),
      integration: covering.filter(isIntegration),
    };
  };
}

/** How many imports lead from a test to each file that it needs. */
function measureDistances(root: string, test: string): ReadonlyMap<string, number> {
  const distances = new Map([[test, 0]]);
  for (const [file, distance] of distances)
    for (const imported of importedFiles(root, file))
      if (!distances.has(imported)) distances.set(imported, distance + 1);
  return distances;
}

const known = new Map<string, readonly string[]>();

/** The files of the project that a file imports, but not those of which it imports a type only. */
function importedFiles(root: string, file: string): readonly string[] {
  const files = known.get(file) ?? readImports(root, file);
  known.set(file, files);
  return files;
}

const importPattern = /^(?:import|export)(?! type)[^;]*?"(\.[^"]+\.ts)"|import\("(\.[^"]+\.ts)"\)/gm;

function readImports(root: string, file: string): readonly string[] {
  const imports = readFileSync(join(root, file), "utf8").matchAll(importPattern);
  return Array.from(imports, ([, fixed, dynamic]) => join(dirname(file), fixed ?? dynamic ?? ""));
}
