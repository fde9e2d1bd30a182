import { randomUUID } from "node:crypto";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { expect, test, vi } from "vitest";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { countNodeKey, leadKey } from "../../../../shared/dynamodb/keys.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { runCommand } from "../../../support/command.ts";
import { aroundCalls } from "../../../support/conditions.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";
import { put, remove } from "../../../support/table-items.ts";

const putLead = (account: string, id: string, status: string) =>
  put({ ...leadKey(account, id), id, status, source: "web" });

/** Creates counted leads. @returns their ids */
async function countLeads(account: string): Promise<string[]> {
  const ids = Array.from({ length: 20 }, (_, i) => `lead_${ulid(Date.now() - 3_600_000 + i)}`);
  for (const id of ids) await putLead(account, id, "new");
  await maintainList({ account, list: countedLists.lead }, [], { deadline: Date.now() + 60_000 });
  return ids;
}

/** Runs the command without its waits. */
async function counts(...args: string[]) {
  const progress: unknown[] = [];
  const errors = vi.spyOn(console, "error").mockImplementation((text) => void progress.push(text));
  using waits = skipWaits();
  const { printed, failure } = await runCommand(countsCommand(), ...args);
  errors.mockRestore();
  return { printed, progress, waits: waits.lengths, failure };
}

test("verify and --repair work through all accounts, whatever becomes of one", async () => {
  const [first = ""] = await countLeads("differs");
  await countLeads("correct");
  // A change that the stream never delivers.
  await putLead("differs", first, "booked");
  const damaged = countNodeKey("lead", "damaged", "root");
  await put({ ...damaged, version: 1 });
  const command = (name: string, account: string) =>
    `\`npm run ops -- counts ${name} --account ${account} --table ${tableName}\``;
  {
    using _ = aroundCalls((command, send) => {
      if (command instanceof GetCommand && command.input.Key?.pk === damaged.pk)
        throw new Error("on purpose");
      return send(command);
    });
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
  }
  await remove(damaged);
  expect(await counts("verify", "--all")).toMatchObject({
    ...{ printed: ["The counts of 2 of 2 accounts are correct."], failure: undefined, waits: [] },
  });
});
