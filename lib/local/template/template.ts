import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AssetManifest } from "aws-cdk-lib/cloud-assembly-schema";
import { readApi } from "./api-routes.ts";
import { readEventSources, readFunctionQueues } from "./event-source.ts";
import { readFunctions } from "./functions.ts";
import { openTemplate, type Template } from "./intrinsics.ts";
import { readTable } from "./table-definition.ts";

/** Everything that the local run reads from the stack's template. */
export type LocalStack = ReturnType<typeof parseStack>;

const suffix = ".template.json";

/** Reads the one stack of a synthesized cloud assembly. */
export async function readStack(directory: string) {
  const files = await readdir(directory);
  const name = files.find((file) => file.endsWith(suffix))?.slice(0, -suffix.length);
  const template = await readJson<Template>(join(directory, name + suffix));
  const manifest = await readJson<AssetManifest>(join(directory, `${name}.assets.json`));
  return parseStack(template, manifest, directory);
}

const readJson = async <T>(file: string) => JSON.parse(await readFile(file, "utf8")) as T;

/** Reads a stack from its template. */
export function parseStack(template: Template, manifest: AssetManifest, directory: string) {
  const findResources = openTemplate(template);
  const functions = readFunctions(findResources, manifest, directory);
  return {
    ...readApi(findResources, functions),
    functions,
    table: readTable(findResources),
    eventSources: readEventSources(findResources, functions),
    functionQueues: readFunctionQueues(findResources, functions),
  };
}
