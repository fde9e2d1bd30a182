import { join } from "node:path";
import { Script } from "node:vm";
import { build, type Plugin } from "esbuild";
import { validatorsPlugin } from "../../../lib/bundling/validators.ts";
import type { Host } from "./sdk/host.ts";

/** The functions that a simulation runs. */
export const functionNames = ["create-lead", "list-leads", "maintain-counts"] as const;

export type FunctionName = (typeof functionNames)[number];

type Handler = (event: object, context: object) => Promise<unknown>;

/** Loads a function's modules anew, as the start of an execution environment does. @returns its handler */
export type Load = (host: Host, globals: Readonly<Record<string, unknown>>) => Handler;

/** The functions of a checkout, compiled. */
export type Product = Readonly<Record<FunctionName, Load>>;

const modules = join(import.meta.dirname, "..", "..", "..", "node_modules");

/** Bundles the functions of a checkout, with a table client that calls the simulated table. */
export async function buildProduct(source: string): Promise<Product> {
  const entries = await Promise.all(
    functionNames.map(async (name) => [name, compile(await bundle(source, name))] as const),
  );
  return Object.fromEntries(entries) as Record<FunctionName, Load>;
}

async function bundle(source: string, name: FunctionName): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(source, "functions", `${name}.ts`)],
    bundle: true,
    write: false,
    platform: "node",
    target: "node24",
    format: "cjs",
    mainFields: ["module", "main"],
    // The table in memory tells commands apart by the names of their classes.
    keepNames: true,
    nodePaths: [modules],
    absWorkingDir: source,
    plugins: [simulatedSdk(), validatorsPlugin()],
  });
  return outputFiles[0]?.text ?? "";
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

function compile(code: string): Load {
  let script: ((...values: unknown[]) => void) | undefined;
  return (host, globals) => {
    const names = Object.keys(globals);
    script ??= new Script(
      `(function (host, module, exports, ${names.join(", ")}) {${code}\n})`,
    ).runInThisContext() as (...values: unknown[]) => void;
    const module = { exports: {} as { handler: Handler } };
    script(host, module, module.exports, ...Object.values(globals));
    return module.exports.handler;
  };
}
