import { join } from "node:path";
import { bundle, type LoadModules } from "./bundle.ts";

/** The functions that a simulation runs. */
export const functionNames = ["create-lead", "list-leads", "list-conversations", "maintain-counts"] as const;

export type FunctionName = (typeof functionNames)[number];

type Handler = (event: object, context: object) => Promise<unknown>;

/** Loads a function's modules anew, as the start of an execution environment does. */
export type Load = LoadModules<{ readonly handler: Handler }>;

/** The functions of a checkout, compiled. */
export type Product = Readonly<Record<FunctionName, Load>>;

/** Bundles the functions of a checkout, with a table client that calls the simulated table. */
export async function buildProduct(source: string): Promise<Product> {
  const entries = await Promise.all(
    functionNames.map(async (name) => {
      const load: Load = await bundle(source, { entryPoints: [join(source, "functions", `${name}.ts`)] });
      return [name, load] as const;
    }),
  );
  return Object.fromEntries(entries) as Record<FunctionName, Load>;
}
