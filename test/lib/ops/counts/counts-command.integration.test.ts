import { ulid } from "ulid";
import { expect, test, vi } from "vitest";
import { countsCommand } from "../../../../lib/ops/counts/counts-command.ts";
import { leadKey } from "../../../../shared/dynamodb/keys.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { maintainList } from "../../../../shared/pages/maintain/maintain-list.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { runCommand } from "../../../support/command.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";
import { put } from "../../../support/table-items.ts";

const account = "differs";
const putLead = (id: string, status: string) => put({ ...leadKey(account, id), id, status, source: "web" });

/** Runs the command without its waits. */
async function counts(...args: string[]) {
  const errors: unknown[] = [];
  const error = vi.spyOn(console, "error").mockImplementation((text) => void errors.push(text));
  using _ = skipWaits();
  const outcome = await runCommand(countsCommand(), ...args, "--account", account);
  error.mockRestore();
  return { ...outcome, errors };
}

test("verify names the row that differs, and --repair corrects it", async () => {
  const ids = Array.from({ length: 20 }, (_, i) => `lead_${ulid(Date.now() - 3_600_000 + i)}`);
  for (const id of ids) await putLead(id, "new");
  await maintainList({ account, list: countedLists.lead }, [], { deadline: Date.now() + 60_000 });
  const [first = ""] = ids;
  // A change that the stream never delivers.
  await putLead(first, "booked");
  const failure = `The counts of the account ${account} differ in 1 places: run \`npm run ops -- counts verify --repair --account ${account} --table ${tableName}\`.`;
  expect(await counts("verify")).toEqual({
    ...{ failure, errors: [] },
    printed: [expect.stringMatching(new RegExp(`^list .+\\nleads +${first} +new +booked$`))],
  });
  const { printed } = await counts("verify", "--json");
  expect(JSON.parse(String(printed[0]))).toEqual([
    { list: "leads", row: first, counted: "new", actual: "booked" },
  ]);
  expect(await counts("verify", "--repair")).toMatchObject({
    ...{ failure: undefined, errors: [expect.stringMatching(/ differ in 1 places, which are corrected\.$/)] },
  });
  expect(await counts("verify")).toEqual({
    ...{ failure: undefined, errors: [] },
    printed: [`The counts of the account ${account} are correct.`],
  });
});
