import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { afterEach, describe, expect, test, vi } from "vitest";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { leadKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { createDataDirectory, ops as runOps } from "../../../support/ops.ts";

const dataDirectory = await createDataDirectory();
const ops = (...args: string[]) => runOps(args, { dataDirectory });
afterEach(() => void vi.restoreAllMocks());

/** Creates an account with counted leads. */
async function countedAccount(count: number) {
  const account = randomUUID();
  const ids = Array.from({ length: count }, (_, i) => `lead_${ulid(Date.now() - 3_600_000 + i)}`);
  for (const id of ids) await putLead(account, id, "new");
  await maintainList({ account, list: countedLists.lead }, [], { deadline: Date.now() + 60_000 });
  return { account, ids };
}

async function putLead(account: string, id: string, status: string) {
  const Item = { ...leadKey(account, id), id, status, source: "web" };
  await table.send(new PutCommand({ TableName: tableName, Item }));
}

/** Runs the command in this process, without its waits. */
async function counts(...args: string[]) {
  const printed: unknown[] = [];
  vi.spyOn(console, "log").mockImplementation((text) => void printed.push(text));
  const errors: unknown[] = [];
  vi.spyOn(console, "error").mockImplementation((text) => void errors.push(text));
  const waits: number[] = [];
  const command = countsCommand(async (milliseconds) => void waits.push(milliseconds));
  const failure: unknown = await command.parseAsync([...args, "--table", tableName], { from: "user" }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { printed, errors, waits, failure };
}

describe("ops counts", () => {
  test("verify finds correct counts without waiting", async () => {
    const { account } = await countedAccount(30);
    const { code, stdout, stderr } = await ops("counts", "verify", "--account", account, "--local");
    const sentence = `The counts of the account ${account} are correct.\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: sentence, stderr: "" });
    const json = await ops("counts", "verify", "--account", account, "--local", "--json");
    expect(json).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  });

  test("verify reports a difference that remains, and --repair corrects it", async () => {
    const { account, ids } = await countedAccount(30);
    // A change that the stream never delivers.
    await putLead(account, `${ids[3]}`, "booked");
    const found = `The counts of the account ${account} differ in 1 places`;
    const command = `\`npm run ops -- counts verify --repair --account ${account} --table ${tableName}\``;
    const printed = [expect.stringMatching(/^list +row +counted +actual\nleads +lead_\w+ +new +booked$/)];
    const verified = await counts("verify", "--account", account);
    expect(verified).toMatchObject({
      ...{ waits: [60_000], printed, failure: `${found}: run ${command}.` },
    });
    const json = await counts("verify", "--account", account, "--json");
    expect(JSON.parse(String(json.printed[0]))).toEqual([
      { list: "leads", row: ids[3], counted: "new", actual: "booked" },
    ]);
    const repaired = await counts("verify", "--account", account, "--repair");
    const errors = [`${found}, which are corrected.`];
    expect(repaired).toMatchObject({ failure: undefined, printed, errors });
    expect(await counts("verify", "--account", account)).toMatchObject({ failure: undefined, waits: [] });
  });

  test("rebuild empties the counts, and counts again", async () => {
    const { account, ids } = await countedAccount(30);
    await putLead(account, `${ids[3]}`, "booked");
    const owner = { account, list: countedLists.lead };
    const before = await readRoot(owner);
    const plan = `The counts of the account ${account} would be rebuilt: 30 rows would be read, at most three times.`;
    expect((await counts("rebuild", "--account", account, "--dry-run")).printed).toEqual([plan]);
    expect(await readRoot(owner)).toEqual(before);
    const rebuilt = await counts("rebuild", "--account", account);
    expect(rebuilt).toMatchObject({
      ...{ failure: undefined, waits: [60_000] },
      printed: [`The counts of the account ${account} are rebuilt.`],
    });
    expect((await readRoot(owner))?.generation).toBeGreaterThan(Number(before?.generation));
    expect(await counts("verify", "--account", account)).toMatchObject({ failure: undefined, waits: [] });
  });

  test("status shows the counts of an account, and of all accounts with rows or counts", async () => {
    const { account } = await countedAccount(30);
    await putLead(account, `lead_${ulid()}`, "new");
    const uncounted = randomUUID();
    await putLead(uncounted, `lead_${ulid()}`, "new");
    const shown = await counts("status", "--account", account, "--json");
    const [leads, conversations] = JSON.parse(String(shown.printed[0]));
    expect(leads).toMatchObject({ account, list: "leads", counted: 30, tail: 1, levels: 1, unfed: 30 });
    expect(leads.longerTail).toBe(false);
    expect(leads.oldestTailSeconds).toBeLessThan(60);
    expect(conversations).toMatchObject({ list: "conversations", counted: 0, tail: 0 });
    expect(conversations).not.toHaveProperty("levels");
    const [text] = (await counts("status", "--account", account)).printed;
    expect(text).toMatch(/^account +list +counted +unfed +levels .+ tail +oldest in tail +sublists\n/);

    const all: { account: string; list: string }[] = JSON.parse(
      String((await counts("status", "--all", "--json")).printed[0]),
    );
    const found = all.filter((list) => list.account === account || list.account === uncounted);
    expect(found).toMatchObject(
      [account, uncounted]
        .sort()
        .map((id) => ({ account: id, list: "leads", counted: id === account ? 30 : 0 })),
    );
  });

  test("a terminal shows the progress", async () => {
    const { account } = await countedAccount(20);
    const { isTTY } = process.stderr;
    const written: string[] = [];
    vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
    process.stderr.isTTY = true;
    await counts("verify", "--account", account);
    process.stderr.isTTY = isTTY;
    expect(written.join("")).toContain("20 of 20 rows");
  });
});
