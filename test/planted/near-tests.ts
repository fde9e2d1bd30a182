import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What tests of the whole API import: they run the bundles of all functions. */
const wholeApi = "test/support/api.ts";

/** The distance of tests that are in no near folder. */
const farthest = 4;

/**
 * Finds the test files that may notice a fault of a source, each with its distance. For what is deployed, that is the number
 * of imports from the test to the source, and more for tests of other rooms. For all else, which often runs in processes, it
 * is the number of folders up to one that has the test.
 *
 * @param root the directory of the project
 */
export function nearTests(root: string): (source: string) => ReadonlyMap<string, number> {
  const tests = globSync("test/**/*.test.ts", { cwd: root }).filter(
    (test) => !test.endsWith(".nightly.test.ts") && !test.startsWith("test/planted/"),
  );
  const measure = (test: string) => {
    const distances = new Map([[test, 0]]);
    for (const [file, distance] of distances)
      for (const each of readImports(root, file)) if (!distances.has(each)) distances.set(each, distance + 1);
    return distances;
  };
  const distances = new Map(tests.map((test) => [test, measure(test)]));
  const byImports = (source: string, test: string) => {
    const to = (file: string) => distances.get(test)?.get(file) ?? Number.POSITIVE_INFINITY;
    const away = /^test\/(?:functions|shared|api)\//.test(test) ? 0 : 2;
    return Math.min(to(source), to(wholeApi) + 2) + away;
  };
  return (source) => {
    const distance = /^(?:functions|shared)\//.test(source) ? byImports : byFolders;
    // What tests the API by HTTP alone is as far from everything.
    const isFar = (test: string) => test.startsWith("test/contract/");
    const near = tests.map((test) => [test, isFar(test) ? farthest : distance(source, test)] as const);
    return new Map(near.filter(([, distance]) => distance < Number.POSITIVE_INFINITY));
  };
}

/** The tests of a folder of `lib/` and of those above it; all of them may start what is in `bin/`. */
function byFolders(source: string, test: string): number {
  if (test.startsWith(`test/${source.replace(/\.ts$/, "")}.`)) return 0;
  let distance = 1;
  for (let folder = dirname(source); folder.includes("/"); folder = dirname(folder), distance++)
    if (test.startsWith(`test/${folder}/`)) return distance;
  const isNear = source.startsWith("bin/") ? test.startsWith("test/lib/") : dirname(test) === "test/lib";
  return isNear ? farthest : Number.POSITIVE_INFINITY;
}

/** Not the imports of a type only. */
const importPattern = /^(?:import|export)(?! type)[^;]*?"(\.[^"]+\.ts)"|import\("(\.[^"]+\.ts)"\)/gm;

function readImports(root: string, file: string): readonly string[] {
  const imports = readFileSync(join(root, file), "utf8").matchAll(importPattern);
  return Array.from(imports, ([, fixed, dynamic]) => join(dirname(file), fixed ?? dynamic ?? ""));
}
