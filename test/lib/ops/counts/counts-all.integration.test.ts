import { DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { afterEach, expect, test, vi } from "vitest";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { countNodeKey, leadKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";

afterEach(() => void vi.restoreAllMocks());

const put = (Item: object) => table.send(new PutCommand({ TableName: tableName, Item: { ...Item } }));

const putLead = (account: string, id: string, status: string) =>
  put({ ...leadKey(account, id), id, status, source: "web" });

/** Creates counted leads. @returns their ids */
async function countLeads(account: string): Promise<string[]> {
  const ids = Array.from({ length: 20 }, (_, i) => `lead_${ulid(Date.now() - 3_600_000 + i)}`);
  for (const id of ids) await putLead(account, id, "new");
  await maintainList({ account, list: countedLists.lead }, [], { deadline: Date.now() + 60_000 });
  return ids;
}

/** Runs the command in this process, without its waits. */
async function counts(...args: string[]) {
  const printed: unknown[] = [];
  const progress: unknown[] = [];
  vi.spyOn(console, "log").mockImplementation((text) => void printed.push(text));
  vi.spyOn(console, "error").mockImplementation((text) => void progress.push(text));
  const command = countsCommand(async () => {});
  const failure: unknown = await command.parseAsync([...args, "--table", tableName], { from: "user" }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { printed, progress, failure };
}

/** Fails the calls of any client that read an item of a partition. */
function failCallsFor(pk: string) {
  const { send } = DynamoDBDocumentClient.prototype as unknown as {
    send: (command: object) => Promise<never>;
  };
  const failing = vi.spyOn(DynamoDBDocumentClient.prototype, "send");
  failing.mockImplementation(async function (this: unknown, command: object) {
    if (command instanceof GetCommand && command.input.Key?.pk === pk) throw new Error("on purpose");
    return send.call(this, command);
  } as never);
  return failing;
}

test("verify and rebuild work through all accounts, whatever becomes of one", async () => {
  const [first = ""] = await countLeads("differs");
  await countLeads("correct");
  // A change that the stream never delivers.
  await putLead("differs", first, "booked");
  const damaged = countNodeKey("lead", "damaged", "root");
  await put({ ...damaged, version: 1 });
  const failing = failCallsFor(damaged.pk);

  const verified = await counts("verify", "--all");
  expect(verified.progress.map((line) => String(line)[0])).toEqual(["1", "2", "3"]);
  expect(verified.progress.map((line) => String(line).replace(/^[123] of 3: /, ""))).toEqual(
    expect.arrayContaining([
      "correct: correct",
      "differs: differs in 1 places",
      expect.stringMatching(/^damaged: ./),
    ]),
  );
  expect(verified.printed).toEqual([
    expect.stringMatching(new RegExp(`^account +list .+\ndiffers +leads +${first} +new +booked$`)),
    "The counts of 1 of 3 accounts are correct.",
  ]);
  const command = (name: string, account: string) =>
    `\`npm run ops -- counts ${name} --account ${account} --table ${tableName}\``;
  expect(verified.failure).toBe(
    `The counts of 1 of 3 accounts differ: run ${command("verify --repair", "differs")}. 1 of 3 accounts failed: run ${command("verify", "damaged")}.`,
  );
  const json = await counts("verify", "--all", "--json");
  const difference = { list: "leads", row: first, counted: "new", actual: "booked" };
  expect(JSON.parse(String(json.printed[0]))).toEqual([
    { account: "correct", differences: [] },
    { account: "damaged", failure: expect.any(String) },
    { account: "differs", differences: [difference] },
  ]);
  expect(json.failure).toBe(verified.failure);

  const repaired = await counts("verify", "--all", "--repair");
  expect(repaired.progress).toContainEqual(expect.stringMatching(/ differs: corrected in 1 places$/));
  expect(repaired.failure).toBe(`1 of 3 accounts failed: run ${command("verify", "damaged")}.`);

  failing.mockRestore();
  await table.send(new DeleteCommand({ TableName: tableName, Key: damaged }));
  expect(await counts("verify", "--all")).toMatchObject({
    printed: ["The counts of 2 of 2 accounts are correct."],
    failure: undefined,
  });
});
