import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { countedRows } from "../../../../lib/ops/counts/list-reading.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { listLeads } from "../../../../shared/domain/leads.ts";
import type { RowChange } from "../../../../shared/pages/maintain/changes.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { filePath, leadFile } from "../../../support/lead-files.ts";
import { MemoryTable } from "../../../support/memory-table.ts";

let printed: string[];
let errors: string[];
/** The changes that the stream has not delivered, by account. */
let stream: Map<string, RowChange[]>;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  stream = new Map();
  const memory = new MemoryTable({
    onChange: ({ after }) => {
      const [type, account = ""] = String(after?.pk).split("#");
      if (type !== "LEAD") return;
      const origin = after?.byOrigin;
      const origins = origin ? [String(origin)] : [];
      const change = { key: String(after?.sk), sequenceNumber: "", kind: "changed", origins } as const;
      stream.set(account, [...(stream.get(account) ?? []), change]);
    },
  });
  const send = memory.send as unknown as DynamoDBDocumentClient["send"];
  vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(send);
  await issueApiKey("acme");
  printed = [];
  errors = [];
  vi.spyOn(console, "log").mockImplementation((text) => void printed.push(text));
  vi.spyOn(console, "error").mockImplementation((text) => void errors.push(text));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A maintainer that gets so many changes in a second, and looks again when rows are old enough. */
const maintainer = (perSecond: number) => async (milliseconds: number) => {
  vi.setSystemTime(Date.now() + milliseconds);
  for (const [account, changes] of stream) {
    const rows = changes.splice(0, Math.ceil((perSecond * milliseconds) / 1000));
    const owner = { account, list: countedLists.lead };
    if (perSecond > 0) await maintainList(owner, rows, { deadline: Number.POSITIVE_INFINITY });
  }
};

/** Imports a file. @returns how many seconds it waited, in looks of a second */
async function run(path: string, perSecond: number, ...options: string[]) {
  let waits = 0;
  const maintain = maintainer(perSecond);
  const command = importCommand(async (milliseconds) => {
    if (milliseconds === 1000) waits += 1;
    await maintain(milliseconds);
  });
  const args = [path, "--account", "acme", "--table", "unit", "--rate", "100000", ...options];
  await command.parseAsync(args, { from: "user" });
  return waits;
}

/** A file with leads of the source web, and some of ads. */
const writeFile = (rows: number, ads = 10) =>
  leadFile(`name,source\n${"Ada,web\n".repeat(rows - ads)}${"Ada,ads\n".repeat(ads)}`);

const total = async (account: string, source?: string) =>
  (await listLeads(account, { source }, { page: 1, limit: 10 })).pagination.total;

const sentence = (left: number) =>
  `About ${left} of the rows are not counted yet: lists are exact when the stream has brought them (\`npm run ops -- counts status --account acme --table unit\`).`;

test.each([
  1000, 30,
])("an import ends when a maintainer of %i rows a second has counted its rows", async (perSecond) => {
  const waits = await run(await writeFile(300), perSecond);
  expect(waits).toBeGreaterThanOrEqual(5);
  expect(waits).toBeLessThan(12);
  expect(printed).toEqual(["300 rows: 300 imported, 0 already imported, 0 invalid."]);
  expect(errors).toEqual([]);
  expect(await total("acme", "web")).toBe(290);
  expect(await total("acme")).toBe(300);
});

test("without progress for 20 seconds, it says how many rows are left, and another run waits for them", async () => {
  const path = await writeFile(300);
  expect(await run(path, 0)).toBe(20);
  expect(errors).toEqual([sentence(300)]);
  expect(await run(path, 0)).toBe(20);
  expect(printed.at(-1)).toBe("300 rows: 0 imported, 300 already imported, 0 invalid.");
  expect(await run(path, 1000)).toBeLessThan(10);
  expect(errors).toEqual([sentence(300), sentence(300)]);
});

test("few rows of an account without others need no maintainer, and --dry-run waits for none", async () => {
  expect(await run(await writeFile(12), 0)).toBe(0);
  expect(await run(await writeFile(300), 0, "--dry-run")).toBe(0);
  expect(errors).toEqual([]);
});

test("rows before all others, in any order, are in the tree of their source at the end, however long that takes", async () => {
  await run(await writeFile(30), 1000);
  const createdAt = (i: number) =>
    new Date(Date.now() - (1 + ((i * 7919) % 3000)) * 10_000_000).toISOString();
  const rows = Array.from({ length: 3000 }, (_, i) => `Ada,fair,${createdAt(i + 1)}\n`);
  const path = await leadFile(`name,source,createdAt\n${rows.join("")}`);
  expect(await run(path, 100)).toBeGreaterThan(20);
  expect(errors).toEqual([]);
  const origin = "LEAD#acme#fair";
  const root = await readRoot({ account: "acme", list: countedLists.lead, origin });
  expect(root && countedRows(root)).toBe(3000);
  expect(await total("acme", "fair")).toBe(3000);
});

test("an import of an archive waits for its rows, too", async () => {
  await run(await writeFile(300), 1000);
  const path = filePath(".jsonl");
  const accounts = (...args: string[]) =>
    accountsCommand(maintainer(1000)).parseAsync([...args, "--table", "unit"], { from: "user" });
  await accounts("export", "--account", "acme", "--output", path);
  await accounts("import", path, "--account", "other", "--rename", "--rate", "100000");
  expect(errors).toEqual([]);
  expect(stream.get("other")).toEqual([]);
  expect(await total("other", "web")).toBe(290);
});
