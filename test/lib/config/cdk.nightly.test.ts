import { execFile } from "node:child_process";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { copyProject } from "../../support/project-copy.ts";

const bin = join(import.meta.dirname, "../../../node_modules/.bin");

// Names of flags are checked first, so this also shows that every name that the command itself puts into the context is
// accepted.
test("the cdk command reports a mistake in a sentence, without a stack trace", async () => {
  const cwd = await copyProject({ wrong: { throttleRate: "5" } });
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const args = ["synth", "-c", "stage=wrong", "--quiet"];
  const outcome = promisify(execFile)(join(bin, "cdk"), args, { cwd, env });
  await expect(outcome).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^stages\/wrong\.json: throttleRate must be a whole number from 1 to 100000, not "5"\.$/m,
    ),
  });
  await expect(outcome).rejects.toMatchObject({ stderr: expect.not.stringMatching(/^\s+at /m) });
});
