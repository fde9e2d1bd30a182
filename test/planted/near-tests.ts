import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The tests of the whole API run the bundles of all functions, which nothing imports. */
const wholeApi = "test/support/api.ts";

/** How far tests are that see a source from outside. */
const outside = 3;

/**
 * Finds the test files that may notice a fault of a source, each with its distance.
 *
 * Those of what is deployed import the source, directly or through other files: the distance is the number of imports. Of
 * the others, which also start processes, the nearest are those in the same folder of `test/`.
 *
 * @param root the directory of the project
 */
export function nearTests(root: string): (source: string) => ReadonlyMap<string, number> {
  const tests = globSync("test/**/*.test.ts", { cwd: root }).filter(
    (test) => !/\.nightly\.test\.ts$|^test\/(?:planted|mutants)\//.test(test),
  );
  const imports = new Map<string, readonly string[]>();
  /** How many imports lead from a test to each file that it needs. */
  const measure = (test: string) => {
    const distances = new Map([[test, 0]]);
    for (const [file, distance] of distances) {
      const imported = imports.get(file) ?? readImports(root, file);
      imports.set(file, imported);
      for (const each of imported) if (!distances.has(each)) distances.set(each, distance + 1);
    }
    return distances;
  };
  const distances = new Map(tests.map((test) => [test, measure(test)]));
  const byImports = (source: string) => (test: string) => {
    if (test.startsWith("test/contract/")) return outside;
    const { [source]: direct, [wholeApi]: api } = Object.fromEntries(distances.get(test) ?? []);
    return Math.min(direct ?? Number.POSITIVE_INFINITY, (api ?? Number.POSITIVE_INFINITY) + outside - 1);
  };
  return (source) => {
    const distanceTo = /^(?:functions|shared)\//.test(source) ? byImports(source) : byFolders(source);
    const near = tests.map((test) => [test, distanceTo(test)] as const);
    return new Map(near.filter(([, distance]) => distance < Number.POSITIVE_INFINITY));
  };
}

/** The tests of a folder of `lib/` and of those above it. All of `test/lib` may start what is in `bin/`. */
const byFolders = (source: string) => (test: string) => {
  const file = `test/${source.replace(/\.ts$/, "")}.`;
  if (test.startsWith(file)) return 0;
  const folders = dirname(source).split("/");
  for (let distance = 1; folders.length > 1; distance++) {
    if (test.startsWith(`test/${folders.join("/")}/`)) return distance;
    folders.pop();
  }
  if (test.startsWith("test/contract/") && source.startsWith("lib/local/")) return outside;
  const isInside = source.startsWith("bin/") ? test.startsWith("test/lib/") : dirname(test) === "test/lib";
  return isInside ? outside + 1 : Number.POSITIVE_INFINITY;
};

/** Not the imports of a type only. */
const importPattern = /^(?:import|export)(?! type)[^;]*?"(\.[^"]+\.ts)"|import\("(\.[^"]+\.ts)"\)/gm;

function readImports(root: string, file: string): readonly string[] {
  const imports = readFileSync(join(root, file), "utf8").matchAll(importPattern);
  return Array.from(imports, ([, fixed, dynamic]) => join(dirname(file), fixed ?? dynamic ?? ""));
}
