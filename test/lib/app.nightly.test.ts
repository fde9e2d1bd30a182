import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { copyProject } from "../support/stack/project-copy.ts";

const bin = join(import.meta.dirname, "../../node_modules/.bin");

// Flags are checked first, so this test also shows that all names that the CDK puts into the context are accepted.
test("the cdk command synthesizes dev when it is given no stage", async () => {
  const cwd = await copyProject({});
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  await promisify(execFile)(join(bin, "cdk"), ["synth", "--quiet"], { cwd, env });
  const { artifacts } = JSON.parse(await readFile(join(cwd, "cdk.out/manifest.json"), "utf8"));
  const stacks = Object.keys(artifacts).filter((name) => artifacts[name].type === "aws:cloudformation:stack");
  expect(stacks).toEqual(["leads-and-conversations-dev"]);
});
