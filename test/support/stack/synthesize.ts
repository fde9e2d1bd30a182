import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { afterAll } from "vitest";
import { type FunctionName, functionNames } from "../../../lib/bundling/bundle.ts";
import { readStack } from "../../../lib/local/template/template.ts";
import { stageResourceName } from "../../../shared/stages.ts";
import { type TestSettings, writeStages } from "./stage-files.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** Writes placeholder bundles, so that tests of the stack need no esbuild and share no files. */
export async function writeBundles(directory: string) {
  for (const name of functionNames) {
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(join(directory, name, "index.cjs"), `exports.handler = async () => "${name}";\n`);
  }
}

const root = await temporaryDirectory("stack-", afterAll);

/**
 * Creates a directory that is deleted after the test file. Each `App` needs one. Otherwise the CDK creates a directory in
 * the system's temporary directory, and leaves it there.
 */
export const createDirectory = () => mkdtemp(join(root, "app-"));

/**
 * The CDK app of a stage in its own directory.
 *
 * @param settings override the settings of the tests' stage
 * @param checked whether cdk-nag checks it
 * @param context the flags of the command line
 */
export async function createTestApp(
  stage: string,
  settings?: TestSettings,
  checked = true,
  context?: Readonly<Record<string, unknown>>,
): Promise<App> {
  const directory = await createDirectory();
  const bundles = join(directory, "bundles");
  await writeBundles(bundles);
  const stages = await writeStages(directory, stage, settings);
  // Most test files do not need the stack's code.
  const { createApp } = await import("../../../lib/app.ts");
  const outdir = join(directory, "cdk.out");
  return createApp({ context: { stage, ...context }, stages, bundles, outdir, checked });
}

async function readJson(path: string) {
  return JSON.parse(await readFile(path, "utf8"));
}

/** The functions by logical id, identified by the code of their assets. */
async function functionIds(template: Template, directory: string, assetsFile: string) {
  const { files } = await readJson(join(directory, assetsFile));
  const ids = new Map<string, FunctionName>();
  for (const [id, { Properties }] of Object.entries(template.findResources("AWS::Lambda::Function"))) {
    const asset = files[Properties.Code.S3Key.replace(".zip", "")].source.path;
    const code = await readFile(join(directory, asset, "index.cjs"), "utf8");
    const name = functionNames.find((candidate) => code.includes(`"${candidate}"`));
    if (name) ids.set(id, name);
  }
  return ids;
}

/** @param validated whether the CDK validates the template, which takes longer than the rest */
export async function synthesizeApp(app: App, stage: string, validated = false) {
  process.env.CDK_VALIDATION = String(validated);
  const assembly = app.synth();
  const { directory } = assembly;
  const artifact = assembly.getStackByName(stageResourceName(stage));
  const template = Template.fromJSON(artifact.template);
  const functions = await functionIds(template, directory, `${artifact.stackName}.assets.json`);
  const aliases = Object.entries(template.findResources("AWS::Lambda::Alias"));
  return {
    artifact,
    template,
    /** Function names by logical id. */
    functions,
    /** Function names by the logical ids of their aliases. */
    aliases: new Map(aliases.map(([id, { Properties }]) => [id, functions.get(Properties.FunctionName.Ref)])),
    /** What the local run reads from the template. */
    local: await readStack(directory),
    /** The findings of the CDK and cdk-nag; undefined if they did not check the app. */
    findings: (await readJson(join(directory, "validation-report.json")).catch(() => undefined))
      ?.pluginReports,
  };
}

type Synthesized = ReturnType<typeof synthesizeApp>;

/** The test files of a worker share its process, but not its modules. */
const shared: { synthesized?: Map<string, Synthesized> } = globalThis as object;
shared.synthesized ??= new Map();
const { synthesized } = shared;

/**
 * Synthesizes a stage, once for all test files of a worker: do not change the result.
 *
 * @param settings override the settings of the tests' stage
 * @param validated whether the CDK and cdk-nag check it
 */
export function synthesize(stage: string, settings: TestSettings = {}, validated = false): Synthesized {
  const key = JSON.stringify([stage, settings, validated]);
  const created =
    synthesized.get(key) ??
    createTestApp(stage, settings, validated).then((app) => synthesizeApp(app, stage, validated));
  synthesized.set(key, created);
  return created;
}

/** The only resource of a type, or the only one whose logical id starts with `within`. */
export function only(template: Template, type: string, within = "") {
  const resources = Object.entries(template.findResources(type)).filter(([id]) => id.startsWith(within));
  const [first] = resources;
  if (!first || resources.length > 1)
    throw new Error(`Expected one resource of ${type}, found ${resources.length}.`);
  const [id, resource] = first;
  return { id, resource, properties: resource.Properties };
}
