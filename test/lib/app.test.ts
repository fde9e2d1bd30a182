import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createDirectory } from "../support/stack/synthesize.ts";

const root = join(import.meta.dirname, "../..");

// The CDK's command line passes the directory and the flags in environment variables.
test("`cdk deploy` with a mistake fails with one sentence, and synthesizes nothing", async () => {
  const outdir = await createDirectory();
  const { app, context } = JSON.parse(await readFile(join(root, "cdk.json"), "utf8"));
  const env = {
    ...process.env,
    CDK_OUTDIR: outdir,
    CDK_CONTEXT_JSON: JSON.stringify({ ...context, stage: "nowhere" }),
  };
  const [file] = app.split(" ").slice(1);
  await expect(promisify(execFile)(process.execPath, [file], { cwd: root, env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no stages\/nowhere\.json: .*\n$/),
  });
  expect(await readdir(outdir)).toEqual([]);
});
