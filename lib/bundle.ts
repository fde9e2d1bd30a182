import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";
import { validatorsPlugin } from "./validators.ts";

/** Every deployed function: the name of its file in `functions/` and of its folder among the bundles. */
export const functionNames = [
  "list-leads",
  "create-lead",
  "list-conversations",
  "send-message",
  "authorize",
] as const;

export type FunctionName = (typeof functionNames)[number];

const root = join(import.meta.dirname, "..");

/** Where the bundles are written: `<name>/index.cjs`, whose `handler` Lambda calls. */
export const bundlesDirectory = join(root, ".build", "functions");

/**
 * Bundles one entry file the way it is deployed: minified CommonJS, which Node loads faster than ES modules,
 * with validators compiled in.
 *
 * @returns esbuild's account of what went into the bundle
 */
export async function bundle(entryPoint: string, outfile: string): Promise<Metafile> {
  const result = await build({
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    mainFields: ["module", "main"],
    legalComments: "none",
    metafile: true,
    logLevel: "error",
    absWorkingDir: root,
    plugins: [validatorsPlugin()],
  });
  return result.metafile;
}

/** Bundles every function into `bundlesDirectory`, each with its metafile beside it as `<name>.meta.json`. */
export async function bundleFunctions(): Promise<void> {
  await mkdir(bundlesDirectory, { recursive: true });
  await Promise.all(
    functionNames.map(async (name) => {
      const outfile = join(bundlesDirectory, name, "index.cjs");
      const metafile = await bundle(join(root, "functions", `${name}.ts`), outfile);
      await writeFile(join(bundlesDirectory, `${name}.meta.json`), JSON.stringify(metafile));
    }),
  );
}
