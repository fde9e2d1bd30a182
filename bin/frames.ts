import { readFile } from "node:fs/promises";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { run } from "../lib/command-line.ts";
import { UserError } from "../lib/user-error.ts";

/** Prints its input, such as a line of a log, and replaces each stack frame of a function by its place in the sources. */
await run(async () => {
  const [, , bundle = ""] = process.argv;
  const json = await readFile(join(bundle, "index.cjs.map"), "utf8").catch(() => {
    throw new UserError(
      `There is no source map in "${bundle}": name a function's bundle, such as cdk.out/bundles/create-lead.`,
    );
  });
  const map = new SourceMap(JSON.parse(json));
  const code = (await readFile(join(bundle, "index.cjs"), "utf8")).split("\n");
  const toSource = (frame: string, line: string, column: string) => {
    if (Number(column) > (code[Number(line) - 1]?.length ?? 0))
      throw new UserError(`${frame} is beyond this bundle: it comes from another release.`);
    const origin = map.findOrigin(Number(line), Number(column));
    if (!("fileName" in origin)) return frame;
    return `${origin.fileName.replace(/^(?:\.\.\/)+/, "")}:${origin.lineNumber}:${origin.columnNumber}`;
  };
  const input = (await text(process.stdin)).replaceAll(String.raw`\n`, "\n");
  process.stdout.write(input.replaceAll(/[^\s()]*\/index\.cjs:(\d+):(\d+)/g, toSource));
});
