import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { copyProject } from "../support/project-copy.ts";

const bin = join(import.meta.dirname, "../../node_modules/.bin");

/** Runs `cdk synth` in a copy of the project. @returns its exit code, its errors and the stacks that it wrote */
async function synthesize(args: readonly string[], stages: Parameters<typeof copyProject>[0] = {}) {
  const cwd = await copyProject(stages);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const outcome = await promisify(execFile)(join(bin, "cdk"), ["synth", "--quiet", ...args], {
    cwd,
    env,
  }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }) => ({ code, stderr }),
  );
  const stacks = await readFile(join(cwd, "cdk.out/manifest.json"), "utf8").then(
    (text) =>
      Object.entries<{ type: string }>(JSON.parse(text).artifacts)
        .filter(([, { type }]) => type === "aws:cloudformation:stack")
        .map(([name]) => name),
    () => [],
  );
  return { ...outcome, stacks };
}

// Names of flags are checked first, so this also shows that every name that the command itself puts into the context is
// accepted.
test("the cdk command synthesizes dev when it is given no stage", async () => {
  expect(await synthesize([])).toMatchObject({ code: 0, stacks: ["leads-and-conversations-dev"] });
});

test("the cdk command reports a mistake in a sentence, without a stack trace", async () => {
  const { code, stderr } = await synthesize(["-c", "stage=wrong"], { wrong: { throttleRate: "5" } });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^stages\/wrong\.json: throttleRate must be a whole number from 1 to 100000, not "5"\.$/m,
    ),
  });
  expect(stderr).not.toMatch(/^\s+at /m);
});
