import { randomUUID } from "node:crypto";
import { PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { afterEach, describe, expect, test, vi } from "vitest";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { startRebuild } from "../../../../lib/ops/counts/rebuild-roots.ts";
import { countNodeKey, leadKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { maintain } from "../../../../shared/pages/maintain/maintain.ts";
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
  await maintain({ account, list: countedLists.lead }, ids, { deadline: Date.now() + 60_000 });
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
  const waits: number[] = [];
  const command = countsCommand(async (milliseconds) => void waits.push(milliseconds));
  const failure: unknown = await command.parseAsync([...args, "--table", tableName], { from: "user" }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { printed, waits, failure };
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

  test("verify reports a difference that remains, and rebuild corrects it", async () => {
    const { account, ids } = await countedAccount(30);
    // A change that the stream never delivers.
    await putLead(account, `${ids[3]}`, "booked");
    const failure = `The counts of the account ${account} differ in 1 places: run \`npm run ops -- counts rebuild --account ${account} --table ${tableName}\`.`;
    const verified = await counts("verify", "--account", account);
    expect(verified).toMatchObject({ waits: [10_000, 20_000, 40_000], failure });
    expect(verified.printed).toEqual([
      expect.stringMatching(
        /^list +level .+ status +counted +actual\nleads +0 .+ new +30 +29\nleads +0 .+ \(other\) +0 +1$/,
      ),
    ]);
    const json = await counts("verify", "--account", account, "--json");
    expect(JSON.parse(String(json.printed[0]))).toMatchObject([{ list: "leads", start: "", level: 0 }]);

    const owner = { account, list: countedLists.lead };
    const before = await readRoot(owner);
    const rebuilt = await counts("rebuild", "--account", account);
    expect(rebuilt).toMatchObject({
      failure: undefined,
      printed: [`The counts of the account ${account} are rebuilt.`],
    });
    expect((await readRoot(owner))?.generation).toBe(Number(before?.generation) + 1);
    expect(await counts("verify", "--account", account)).toMatchObject({ failure: undefined, waits: [] });
  });

  test("status shows the counts of an account, and of all accounts with rows or counts", async () => {
    const { account } = await countedAccount(30);
    await putLead(account, `lead_${ulid()}`, "new");
    const uncounted = randomUUID();
    await putLead(uncounted, `lead_${ulid()}`, "new");
    const shown = await counts("status", "--account", account, "--json");
    const [leads, conversations] = JSON.parse(String(shown.printed[0]));
    expect(leads).toMatchObject({ account, list: "leads", counted: 30, tail: 1, levels: 0 });
    expect(leads).toMatchObject({ full: [], pending: 0, longerTail: false });
    expect(leads.oldestTailSeconds).toBeLessThan(60);
    expect(leads).not.toHaveProperty("rebuild");
    expect(conversations).toMatchObject({ list: "conversations", counted: 0, tail: 0 });
    expect(conversations).not.toHaveProperty("levels");

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

  test("status shows a rebuild that has not ended, and rebuild continues it", async () => {
    const { account } = await countedAccount(30);
    const owner = { account, list: countedLists.lead };
    const root = await readRoot(owner);
    if (!root) throw new Error("The leads are not counted.");
    await startRebuild(owner, root, undefined, root.statuses);
    const threeHoursAgo = new UpdateCommand({
      TableName: tableName,
      Key: countNodeKey("lead", account, "next"),
      UpdateExpression: "SET progressAt = :at",
      ExpressionAttributeValues: { ":at": Date.now() - 3 * 3_600_000 },
    });
    await table.send(threeHoursAgo);
    const [rows, sentence] = (await counts("status", "--account", account)).printed;
    expect(rows).toMatch(
      /^account +list +counted .+ rebuilding .+\n\S+ +leads +30 .+ 0 % .+\n\S+ +conversations +0 /,
    );
    expect(sentence).toBe(
      `The leads of the account ${account} are being rebuilt: 0 % of the rows, last progress 3 hours ago. If no rebuild is running, run \`npm run ops -- counts rebuild --account ${account} --table ${tableName}\` to continue.`,
    );
    expect(await counts("rebuild", "--account", account)).toMatchObject({ failure: undefined });
    expect(await readRoot(owner)).toMatchObject({
      generation: root.generation + 1,
      rebuilding: undefined,
      progressAt: undefined,
    });
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
