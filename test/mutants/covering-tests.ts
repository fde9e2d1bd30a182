import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where the tests of a source are. Those of the counted trees take long; those of the whole API, even longer. */
const areas = [
  { sources: /^lib\//, tests: ["lib/**/*.test.ts"] },
  {
    sources: /^functions\/maintain|^shared\/(?:dynamodb|pages)\//,
    tests: ["{functions,lib/openapi,model,shared}/**/*.test.ts"],
  },
  {
    sources: /^(?:functions|shared)\//,
    tests: ["{functions,lib/openapi,shared/!(pages)}/**/*.test.ts", "shared/*.test.ts"],
  },
];

/** The tests of a mutant, those that import its source most directly first. */
export interface CoveringTests {
  /** Without an engine. */
  readonly unit: readonly string[];
  readonly integration: readonly string[];
}

/**
 * Finds the test files for a source that import it, directly or through other files.
 *
 * @param root the directory of the project
 */
export function coveringTests(root: string): (source: string) => CoveringTests {
  const distances = new Map<string, ReadonlyMap<string, number>>();
  const measure = (test: string) => {
    const known = distances.get(test) ?? measureDistances(root, test);
    distances.set(test, known);
    return known;
  };
  return (source) => {
    const patterns = areas.find(({ sources }) => sources.test(source))?.tests ?? [];
    const distance = (test: string) => measure(test).get(source) ?? Number.POSITIVE_INFINITY;
    const covering = patterns
      .flatMap((pattern) => globSync(`test/${pattern}`, { cwd: root }))
      .filter((test) => distance(test) < Number.POSITIVE_INFINITY)
      .sort((a, b) => distance(a) - distance(b));
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
