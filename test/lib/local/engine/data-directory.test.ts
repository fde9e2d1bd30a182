import { chmod, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../../../lib/local/engine/data-directory.ts";
import { UserError } from "../../../../lib/user-error.ts";
import { temporaryDirectory } from "../../../support/stack/temporary-directory.ts";

const mode = async (path: string) => (await stat(path)).mode & 0o7777;

async function open(directory: string) {
  const data = await openDataDirectory(directory);
  onTestFinished(data.unlock);
  return data;
}

test("other users lose access to an existing directory, and only its owner can access what a run writes", async () => {
  const directory = await temporaryDirectory();
  await chmod(directory, 0o777);
  const data = await open(directory);
  expect(await mode(directory)).toBe(0o700);
  await data.writeRun({ url: "u", dynamodbEndpoint: "e", tableName: "t" });
  expect(await mode(join(directory, "run.json"))).toBe(0o600);
});

test("a directory that other users share, such as /tmp, is refused and left as it is", async () => {
  const directory = await temporaryDirectory();
  await chmod(directory, 0o1777);
  await expect(openDataDirectory(directory)).rejects.toThrow("(other users share it): set DATA_DIR");
  expect(await mode(directory)).toBe(0o1777);
  expect(await readdir(directory)).toEqual([]);
});

test("only one run at a time can use a directory, even under another path", async () => {
  const directory = await temporaryDirectory();
  const link = join(await temporaryDirectory(), "link");
  await symlink(directory, link);
  const data = await openDataDirectory(directory);
  const sentence = `Another \`npm start\` is running on the data in ${directory}: stop it first, or set DATA_DIR to another directory.`;
  for (const path of [directory, link])
    await expect(openDataDirectory(path)).rejects.toThrow(new UserError(sentence));
  data.unlock();
  await open(link);
});

test("a lock that cannot be used is not reported as another run", async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, "run.lock"), "no database".repeat(100));
  await expect(openDataDirectory(directory)).rejects.toThrow(/cannot be used \(file is not a database\)/);
});

test("a lock is held until it is released, even if nothing refers to it", async () => {
  const directory = await temporaryDirectory();
  await openDataDirectory(directory);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let n = 0; n < 5; n++) {
    collect();
    await setTimeout(10);
  }
  await expect(openDataDirectory(directory)).rejects.toThrow(/^Another `npm start` is running/);
});
