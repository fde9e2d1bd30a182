import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { UserError } from "../../../lib/errors.ts";
import { writeOutput } from "../../../lib/ops/common/output-file.ts";
import { ProgressFile } from "../../../lib/ops/events/progress-file.ts";
import { RejectsFile } from "../../../lib/ops/leads/leads-import.ts";

async function createPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "private-files-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, "file");
}

async function* text(...chunks: readonly (string | Error)[]) {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk;
    yield chunk;
  }
}

const task = { account: "acme" };

test.each<[string, (path: string) => Promise<void>]>([
  ["an export", (path) => writeOutput(text("a", "b"), path)],
  [
    "the rejected rows of an import",
    async (path) => {
      await using rejects = new RejectsFile(path);
      await rejects.add({ line: 1, errors: [] });
    },
  ],
  ["the progress of a command", (path) => new ProgressFile(path, task).save({ rows: 1 })],
])("%s can be read by its owner only", async (_, write) => {
  const path = await createPath();
  await write(path);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("an export that ends early leaves what was there, and nothing else", async () => {
  const path = await createPath();
  await writeFile(path, "before");
  await chmod(path, 0o644);
  await expect(writeOutput(text("half", new Error("gone")), path)).rejects.toThrow("gone");
  expect([await readFile(path, "utf8"), await readdir(join(path, ".."))]).toEqual(["before", ["file"]]);
  await writeOutput(text("whole"), path);
  expect([await readFile(path, "utf8"), (await stat(path)).mode & 0o777]).toEqual(["whole", 0o600]);
});

test("an import without rejected rows makes no file", async () => {
  const path = await createPath();
  await new RejectsFile(path)[Symbol.asyncDispose]();
  expect(await readdir(join(path, ".."))).toEqual([]);
});

test("a command continues from its own progress, and from no other command's", async () => {
  const path = await createPath();
  const progress = new ProgressFile(path, task);
  expect(await progress.read()).toBeUndefined();
  await progress.save({ rows: 1 });
  await progress.save({ rows: 2 });
  expect(await new ProgressFile(path, task).read()).toEqual({ rows: 2 });
  expect(await readdir(join(path, ".."))).toEqual(["file"]);
  for (const other of [{ account: "other" }, {}, { ...task, local: true }])
    await expect(new ProgressFile(path, other).read()).rejects.toThrow("is not of this command");
  for (const wrong of ["", "{", "null", "{}", '{"task":{"account":"acme"}}']) {
    await writeFile(path, wrong);
    await expect(progress.read()).rejects.toThrow(UserError);
  }
  await progress.remove();
  await progress.remove();
  expect(await progress.read()).toBeUndefined();
});
