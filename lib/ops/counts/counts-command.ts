import { Command } from "commander";
import type { Finding } from "../../../shared/pages/audit/compare-tree.ts";
import { removeLeftovers } from "../../../shared/pages/audit/leftovers.ts";
import { pacedMaintenance, repair } from "../../../shared/pages/audit/repair.ts";
import { verify } from "../../../shared/pages/audit/verify.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { UserError } from "../../user-error.ts";
import { command, leftOutCodes, opsCommand, type PacedAccountOptions } from "../command/command.ts";
import { selectPacedAccount } from "../command/known-account.ts";
import { formatColumns } from "../output/columns.ts";
import { countedOwners } from "../table/counted-trees.ts";
import { InvalidItems } from "../table/invalid-items.ts";

interface VerifyOptions extends PacedAccountOptions {
  readonly repair?: boolean;
}

/** `counts verify`: compares the counts that page the lists of an account with its rows. */
export const countsCommand = (): Command =>
  new Command("counts").description("verify the counts of an account's lists").addCommand(
    command("verify", "compare the counts with all rows; exits with 1 if they still differ after a minute", {
      paced: true,
    })
      .option("--repair", "correct what differs")
      .addHelpText("after", leftOutCodes)
      .action(verifyCounts),
  );

async function verifyCounts(options: VerifyOptions): Promise<void> {
  const pace = await selectPacedAccount(options.repair ? { ...options, writes: true } : options);
  const { account, json } = options;
  const invalid = new InvalidItems();
  const lists = countedOwners(account).map(async (owner) => {
    const { findings } = await verify(owner, { pace, onMalformed: invalid.noteMalformed });
    // Without findings, it goes on with what a repair before it has left.
    if (options.repair) await repair(owner, findings, pacedMaintenance(pace));
    let leftovers = 0;
    await removeLeftovers(
      owner,
      pace,
      (count) => {
        leftovers += count;
      },
      !options.repair,
    );
    const left = { list: nameList(owner), damage: `${leftovers} items are of no current counts.` };
    return [...findings.map(toPlace), ...(leftovers > 0 ? [left] : [])];
  });
  const differences = (await Promise.all(lists)).flat();
  if (json) console.log(JSON.stringify(differences));
  else if (differences.length > 0) console.log(formatColumns(differences));
  else if (invalid.size === 0) console.log(`The counts of the account ${account} are correct.`);
  const found = `The counts of the account ${account} differ in ${differences.length} places`;
  if (differences.length > 0 && options.repair) console.error(`${found}, which are corrected.`);
  invalid.print();
  if (differences.length > 0 && !options.repair)
    throw new UserError(
      `${found}: run ${opsCommand(options, `counts verify --repair --account ${account}`)}.`,
    );
}

/** What is printed of a tree that is wrong: of the whole list, or of the sublist of a source or channel, as keys have it. */
const toPlace = ({ owner, differences, damage }: Finding) => ({
  list: nameList(owner),
  ...(owner.origin !== undefined && { [owner.list.attribute]: owner.origin.split("#").at(-1) }),
  ...(differences.length > 0 && { rows: differences.length, first: differences[0]?.sk }),
  damage: damage?.message,
});

const nameList = ({ list }: CountedOwner) => `${list.type}s`;
