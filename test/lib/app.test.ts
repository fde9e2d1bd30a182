import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Runs the app as the CDK's command line does: it passes the directory and the flags in environment variables. */
async function runApp(flags: Readonly<Record<string, string>>) {
  const outdir = await mkdtemp(join(tmpdir(), "app-"));
  onTestFinished(() => rm(outdir, { recursive: true }));
  const { app, context } = JSON.parse(await readFile(join(root, "cdk.json"), "utf8"));
  const env = {
    ...process.env,
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
  return { ...outcome, stacks };
}

test("`cdk deploy` without flags synthesizes dev", async () => {
  expect(await runApp({})).toMatchObject({ code: 0, stacks: ["leads-and-conversations-dev"] });
});

test("`cdk deploy` with a mistake fails with one sentence, and synthesizes nothing", async () => {
  expect(await runApp({ stage: "nowhere" })).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^There is no stages\/nowhere\.json: .*\n$/),
    stacks: [],
  });
});
