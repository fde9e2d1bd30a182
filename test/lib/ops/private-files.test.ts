import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeOutput } from "../../../lib/ops/common/output-file.ts";
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

test.each<[string, (path: string) => Promise<void>]>([
  ["an export", (path) => writeOutput(text("a", "b"), path)],
  ["the rejected rows of an import", (path) => new RejectsFile(path).add({ line: 1, errors: [] })],
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
  expect(new RejectsFile(path).count).toBe(0);
  expect(await readdir(join(path, ".."))).toEqual([]);
});
