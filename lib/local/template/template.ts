import { readdir, readFile } from "node:fs/promises";
import { join, resolve as resolvePath } from "node:path";
import type { AssetManifest } from "aws-cdk-lib/cloud-assembly-schema";
import { readApi } from "./api-routes.ts";
import { readEventSources, readFunctionQueues } from "./event-source.ts";
import { type FindAsset, readFunctions } from "./functions.ts";
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
  return parseStack(template, readAssets(directory, manifest));
}

const readJson = async <T>(file: string) => JSON.parse(await readFile(file, "utf8")) as T;

function readAssets(directory: string, { files = {} }: AssetManifest): FindAsset {
  const assets = new Map<string, ReturnType<FindAsset>>();
  for (const { displayName = "", source, destinations } of Object.values(files)) {
    const [name = ""] = displayName.split("/");
    const asset = { directory: resolvePath(directory, source.path ?? ""), name };
    for (const { objectKey } of Object.values(destinations)) assets.set(objectKey, asset);
  }
  return (objectKey) => assets.get(objectKey);
}

/** Reads a stack from its template. */
export function parseStack(template: Template, findAsset: FindAsset) {
  const findResources = openTemplate(template);
  const functions = readFunctions(findResources, findAsset);
  return {
    ...readApi(findResources, functions),
    /** Whether API Gateway would answer preflight requests, which the local gateway does not. */
    hasCors: findResources("AWS::ApiGatewayV2::Api").some(({ properties }) => properties.CorsConfiguration),
    functions,
    table: readTable(findResources),
    eventSources: readEventSources(findResources, functions),
    functionQueues: readFunctionQueues(findResources, functions),
  };
}
