import { join } from "node:path";
import { Script } from "node:vm";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { validatorsPlugin } from "../../../lib/bundling/validators.ts";
import type { Host } from "./sdk/host.ts";

/** Loads a bundle's modules anew, as the start of a process does. @returns its exports */
export type LoadModules<Exports> = (host: Host, globals: Readonly<Record<string, unknown>>) => Exports;

const modules = join(import.meta.dirname, "..", "..", "..", "node_modules");

/** Bundles and compiles code of a checkout, with a table client that calls the simulated table. */
export async function bundle<Exports>(
  source: string,
  entry: Pick<BuildOptions, "entryPoints" | "stdin">,
): Promise<LoadModules<Exports>> {
  const { outputFiles } = await build({
    ...entry,
    bundle: true,
    write: false,
    platform: "node",
    target: "node24",
    format: "cjs",
    mainFields: ["module", "main"],
    // The table in memory tells commands apart by the names of their classes.
    keepNames: true,
    // The operators' programs use it only where they look for a local run.
    logOverride: { "empty-import-meta": "silent" },
    nodePaths: [modules],
    absWorkingDir: source,
    plugins: [simulatedSdk(), validatorsPlugin()],
  });
  return compile(outputFiles[0]?.text ?? "");
}

/** Replaces the SDK's clients by the modules in `sdk/`; those themselves import the errors of the real ones. */
function simulatedSdk(): Plugin {
  const sdk = join(import.meta.dirname, "sdk");
  return {
    name: "simulated SDK",
    setup({ onResolve }) {
      onResolve({ filter: /^@aws-sdk\/(client|lib)-dynamodb$/ }, ({ path, importer }) =>
        importer.startsWith(sdk)
          ? { path, external: true }
          : { path: join(sdk, `${path.replace("@aws-sdk/", "")}.ts`) },
      );
    },
  };
}

function compile<Exports>(code: string): LoadModules<Exports> {
  let script: ((...values: unknown[]) => void) | undefined;
  return (host, globals) => {
    const names = Object.keys(globals);
    script ??= new Script(
      `(function (host, module, exports, ${names.join(", ")}) {${code}\n})`,
    ).runInThisContext() as (...values: unknown[]) => void;
    const module = { exports: {} as Exports };
    script(host, module, module.exports, ...Object.values(globals));
    return module.exports;
  };
}
