import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Runs the app as the CDK's command line does: it passes the directory and the flags in environment variables. */
async function runApp(flags: Readonly<Record<string, string>>, variables: NodeJS.ProcessEnv = {}) {
  const outdir = await mkdtemp(join(tmpdir(), "app-"));
  onTestFinished(() => rm(outdir, { recursive: true }));
  const { app, context } = JSON.parse(await readFile(join(root, "cdk.json"), "utf8"));
  const env = {
    ...process.env,
    CDK_VALIDATION: undefined,
    // Tells which files Node has loaded.
    NODE_V8_COVERAGE: join(outdir, "coverage"),
    ...variables,
    CDK_OUTDIR: outdir,
    CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...flags }),
  };
  const [file] = app.split(" ").slice(1);
  const outcome = await promisify(execFile)(process.execPath, [file], { cwd: root, env }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }) => ({ code, stderr }),
  );
  const stacks = await readFile(join(outdir, "manifest.json"), "utf8").then(
    (text) =>
      Object.entries<{ type: string }>(JSON.parse(text).artifacts)
        .filter(([, { type }]) => type === "aws:cloudformation:stack")
        .map(([name]) => name),
    () => [],
  );
  return {
    ...outcome,
    stacks,
    loadsChecks: await hasLoaded("/node_modules/cdk-nag/", join(outdir, "coverage")),
  };
}

async function hasLoaded(part: string, coverage: string): Promise<boolean> {
  const reports = await Promise.all(
    (await readdir(coverage)).map((name) => readFile(join(coverage, name), "utf8")),
  );
  return reports.some((report) => report.includes(part));
}

/** What `cdk synth --no-validation` sets. */
const noValidation = { CDK_VALIDATION: "false" };

test("the CDK synthesizes dev when it is given no stage, and checks it also with `--no-validation`", async () => {
  expect(await runApp({}, noValidation)).toMatchObject({
    ...{ code: 0, stacks: ["leads-and-conversations-dev"], loadsChecks: true },
  });
});

test("`cdk deploy` with a mistake fails with one sentence, and synthesizes nothing", async () => {
  expect(await runApp({ stage: "nowhere" })).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^There is no stages\/nowhere\.json: .*\n$/),
    stacks: [],
    loadsChecks: false,
  });
});
