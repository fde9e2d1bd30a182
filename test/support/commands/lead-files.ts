import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { InvalidItems } from "../../../lib/ops/table/invalid-items.ts";
import { readStored } from "../../../lib/ops/table/valid-records.ts";
import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import { unpaced } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryAll } from "../../../shared/dynamodb/read-pages.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";

/** Created with the first file, because not every test file that imports this module writes one. */
let root: string | undefined;
afterAll(() => root && rmSync(root, { recursive: true }));

let files = 0;

/** A path for a file that is removed after the test file. */
export function filePath(ending: string): string {
  root ??= mkdtempSync(join(tmpdir(), "lead-files-"));
  return join(root, `leads-${++files}${ending}`);
}

/** Writes a file that is removed after the test file. @returns its path */
export async function leadFile(content: string | Buffer, ending = ".csv"): Promise<string> {
  const path = filePath(ending);
  await writeFile(path, content);
  return path;
}

/** A file with a JSON object on each line, parsed. */
export const readLines = async (path: string) =>
  (await readFile(path, "utf8"))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Creates an account by issuing a key. @returns its name */
export async function anAccount(account: string = randomUUID()): Promise<string> {
  await issueApiKey(account);
  return account;
}

/** All stored leads of the account, oldest first. */
export async function storedLeads(account: string): Promise<Lead[]> {
  const items = await queryAll(inPartition(accountPartition("lead", account)), unpaced);
  return items.flatMap((item) => readStored("lead", item, new InvalidItems()) ?? []);
}
