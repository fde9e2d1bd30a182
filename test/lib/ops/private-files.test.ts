import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { UserError } from "../../../lib/errors.ts";
import { writeOutput } from "../../../lib/ops/common/output-file.ts";
import { readPosition, savePosition } from "../../../lib/ops/events/progress-file.ts";
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
const position = (sent: number) => ({ until: 1, key: { pk: "LEAD#acme", sk: "lead_1" }, sent });

test.each<[string, (path: string) => Promise<void>]>([
  ["an export", (path) => writeOutput(text("a", "b"), path)],
  ["the rejected rows of an import", (path) => new RejectsFile(path).add({ line: 1, errors: [] })],
  ["the progress of a command", (path) => savePosition(path, task, position(1))],
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

test("a command continues from its own progress, and from no other command's", async () => {
  const path = await createPath();
  expect(await readPosition(path, task)).toBeUndefined();
  await savePosition(path, task, position(1));
  await savePosition(path, task, position(2));
  expect(await readPosition(path, task)).toEqual(position(2));
  expect(await readdir(join(path, ".."))).toEqual(["file"]);
  for (const other of [{ account: "other" }, {}, { ...task, local: true }])
    await expect(readPosition(path, other)).rejects.toThrow("is not of this command");
  for (const wrong of ["", "{", "null", "{}", '{"task":{"account":"acme"}}']) {
    await writeFile(path, wrong);
    await expect(readPosition(path, task)).rejects.toThrow(UserError);
  }
});
