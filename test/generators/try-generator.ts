import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { build } from "esbuild";
import type { Generator } from "./generators.ts";
import type { Result } from "./report.ts";
import { type Outcome, runTool, toolsDirectory } from "./tools.ts";
import { type Access, type ClientModule, tryRoutes } from "./try-routes.ts";

/** Generates a client, checks its types, and sends a request to each route with it. */
export async function tryGenerator(generator: Generator, document: string, access: Access): Promise<Result> {
  const output = join(toolsDirectory, generator.output);
  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  const generated = await generate(generator, document);
  const types = generated.ok ? await checkTypes(generator) : generated;
  const typeErrors = types.output.split("\n").filter((line) => line.includes("error TS"));
  const { read, failures } = await tryRoutes(load(generator), access);
  return {
    ok: generated.ok && types.ok && failures.length === 0,
    row: {
      tool: generator.name,
      generated: generated.ok ? "yes" : "no",
      "type-checked": types.ok ? "yes" : `${typeErrors.length} errors`,
      "real responses": `${read} of ${read + failures.length}`,
      "parsed with": generator.parsesWith,
    },
    errors: [...(generated.ok ? [] : [generated.errors]), ...typeErrors, ...failures],
  };
}

function generate({ command: [bin, ...args] }: Generator, document: string): Promise<Outcome> {
  const filled = args.map((arg) => (arg === "{document}" ? document : arg));
  return runTool(bin, filled, { env: { DOCUMENT: document } });
}

/** Checks the whole generated client, and the module that calls it, with TypeScript's `strict`. */
async function checkTypes({ name, output, client }: Generator): Promise<Outcome> {
  const file = join(toolsDirectory, `.build/${name}.tsconfig.json`);
  await mkdir(dirname(file), { recursive: true });
  const include = [`../${output}/**/*.ts`, `../${client}`];
  await writeFile(file, JSON.stringify({ extends: "../tsconfig.json", include }));
  return runTool("tsc", ["--project", file]);
}

/** Bundles the calling module beside its packages, because generated imports have no file extension. */
async function load({ client }: Generator) {
  const source = join(toolsDirectory, client);
  const directory = dirname(client) === "clients" ? toolsDirectory : dirname(source);
  const outfile = join(directory, ".build", `${basename(client, ".ts")}.mjs`);
  await build({ entryPoints: [source], outfile, bundle: true, packages: "external", format: "esm" });
  return (await import(outfile)) as ClientModule;
}
