import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

let script: Promise<string> | undefined;

/** The script of Scalar's page, read once. */
export const readScalar = (): Promise<string> => {
  script ??= extractScript();
  return script;
};

/**
 * Reads the script of Scalar's page, which the package has as a string of its code. None of that code runs here.
 *
 * @throws Error when the package has no such string
 */
async function extractScript(): Promise<string> {
  const plugin = fileURLToPath(import.meta.resolve("@scalar/fastify-api-reference"));
  const [, literal] = /^var standalone_default = (".*");$/m.exec(await readFile(plugin, "utf8")) ?? [];
  if (literal === undefined) throw new Error(`${plugin} has no script of the page`);
  // A string of JavaScript may have control characters, one of JSON may not.
  const escaped = literal.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1));
  return JSON.parse(escaped) as string;
}
