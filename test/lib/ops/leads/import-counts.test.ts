import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { accountsCommand } from "../../../../lib/ops/accounts/accounts-command.ts";
import { Pace } from "../../../../lib/ops/common/pace.ts";
import { readSublists } from "../../../../lib/ops/counts/tree-items.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { listLeads } from "../../../../shared/domain/leads.ts";
import { maintain } from "../../../../shared/pages/maintain/maintain.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { filePath, leadFile } from "../../../support/lead-files.ts";
import { MemoryTable } from "../../../support/memory-table.ts";

const owner = { account: "acme", list: countedLists.lead };
const web = { index: "by-origin", partition: "LEAD#acme#web" } as const;
const wait = async (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds);

let printed: string[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  const memory = new MemoryTable();
  const send = memory.send as unknown as DynamoDBDocumentClient["send"];
  vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(send);
  await issueApiKey("acme");
  printed = [];
  vi.spyOn(console, "log").mockImplementation((text) => void printed.push(text));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A file with leads of the source web, and some of ads. */
const writeFile = (rows: number, ads = 10) =>
  leadFile(`name,source\n${"Ada,web\n".repeat(rows - ads)}${"Ada,ads\n".repeat(ads)}`);

/** Imports a file. @param waiting runs with each wait, after it @returns the waits, in seconds */
async function run(path: string, options: string[] = [], waiting: () => Promise<unknown> = async () => {}) {
  const waits: number[] = [];
  const command = importCommand(async (milliseconds) => {
    waits.push(Math.round(milliseconds / 1000));
    await wait(milliseconds);
    await waiting();
  });
  const args = [path, "--account", "acme", "--table", "unit", "--rate", "100000", ...options];
  await command.parseAsync(args, { from: "user" });
  return waits;
}

/** A maintainer counts the back-dated rows in the whole list. */
const countBackdated = () =>
  maintain(owner, ["lead_0"], { deadline: Number.POSITIVE_INFINITY, wait, backdated: true });

test("a large import counts its sources when the indexes have all of its rows", async () => {
  expect(await run(await writeFile(300))).toEqual([32]);
  expect(printed).toEqual([
    "300 rows: 300 imported, 0 already imported, 0 invalid.",
    "Waiting 33 seconds, then counting the rows in the lists of their sources and channels.",
  ]);
  expect((await readSublists(owner, new Pace())).map(({ sublist }) => sublist)).toEqual([web]);
  const root = await readRoot({ ...owner, sublist: web });
  expect(root?.entries.reduce((sum, { cells }) => sum + (cells.get(0) ?? 0), 0)).toBe(290);
  const { pagination } = await listLeads("acme", { source: "web" }, { page: 1, limit: 10 });
  expect(pagination.total).toBe(290);
});

test("it waits again for rows that maintainers counted later", async () => {
  let waits = 0;
  const late = async () => (++waits === 1 ? countBackdated() : undefined);
  expect(await run(await writeFile(300), [], late)).toEqual([32, 32]);
  expect(await readRoot({ ...owner, sublist: web })).toMatchObject({ level: 0, overdue: false });
});

test("with --json only the report is printed", async () => {
  await run(await writeFile(300), ["--json"]);
  expect(printed.map((text) => JSON.parse(text))).toEqual([
    { account: "acme", rows: 300, imported: 300, present: 0, erased: 0, rejected: 0 },
  ]);
});

test.each([
  ["a small import", () => writeFile(190)],
  ["rows without a source", () => leadFile(`name\n${"Ada\n".repeat(300)}`)],
  [
    "few rows of each source",
    () => leadFile(`name,source\n${Array.from({ length: 300 }, (_, i) => `Ada,s${i % 60}\n`).join("")}`),
  ],
])("%s does not wait", async (_, write) => {
  expect(await run(await write())).toEqual([]);
  expect(printed).toHaveLength(1);
});

test("--dry-run does not wait", async () => {
  expect(await run(await writeFile(300), ["--dry-run"])).toEqual([]);
});

test("an import that was killed while it waited is completed by the next one, without a wait of its own", async () => {
  const path = await writeFile(300);
  const killed = run(path, [], async () => {
    throw new Error("killed");
  });
  await expect(killed).rejects.toThrow("killed");
  expect(await readSublists(owner, new Pace())).toEqual([]);
  expect(await run(path)).toEqual([]);
  expect(printed.at(-1)).toBe("300 rows: 0 imported, 300 already imported, 0 invalid.");
  expect(await readSublists(owner, new Pace())).toHaveLength(1);
});

test("an import beside others that go on leaves the rest to the maintainers", async () => {
  expect((await run(await writeFile(300), [], countBackdated)).length).toBe(20);
  expect(await readSublists(owner, new Pace())).toEqual([]);
});

test("an import of an archive counts its sources, too", async () => {
  await run(await writeFile(300));
  const path = filePath(".jsonl");
  const accounts = (...args: string[]) =>
    accountsCommand(wait).parseAsync([...args, "--table", "unit"], { from: "user" });
  await accounts("export", "--account", "acme", "--output", path);
  await accounts("import", path, "--account", "other", "--rename", "--rate", "100000");
  const [sublist] = await readSublists({ ...owner, account: "other" }, new Pace());
  expect(sublist?.sublist.partition).toBe("LEAD#other#web");
  const { pagination } = await listLeads("other", { source: "web" }, { page: 1, limit: 10 });
  expect(pagination.total).toBe(290);
});
