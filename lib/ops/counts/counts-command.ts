import { Command, Option } from "commander";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { Finding } from "../../../shared/pages/audit/compare-tree.ts";
import { pacedMaintenance, repair } from "../../../shared/pages/audit/repair.ts";
import { type Verified, verify } from "../../../shared/pages/audit/verify.ts";
import { UserError } from "../../user-error.ts";
import { inColumns, onAccount, type Printed, type Tools } from "../command/action.ts";
import { type AccountOptions, command, opsCommand } from "../command/command.ts";
import { countedOwners } from "../table/read-items.ts";

type VerifyOptions = AccountOptions & { readonly repair?: boolean };

export const countsCommand = () =>
  new Command("counts").description("verify the counts of an account's lists").addCommand(
    command("verify", "compare the counts with all rows; exits with 1 if they still differ after a minute", {
      paced: true,
    })
      .addOption(new Option("--repair", "correct what differs").implies({ writes: true }))
      .action(onAccount(verifyCounts)),
  );

async function verifyCounts(options: VerifyOptions, { pace, invalid }: Tools): Promise<Printed> {
  const { account } = options;
  const verified = countedOwners(account).map(async (owner) => {
    const findings: Finding[] = [];
    let start: string | undefined;
    do {
      const reading = { pace, onInvalid: invalid.noteInvalid };
      const part: Verified = await verify(owner, reading, { start });
      findings.push(...part.findings);
      start = part.next;
    } while (start !== undefined);
    return { owner, findings };
  });
  const differences: Item[] = [];
  for (const { owner, findings } of await Promise.all(verified)) {
    if (options.repair) await repair(owner, findings, pacedMaintenance(pace));
    differences.push(...findings.map(toPlace));
  }
  const printed = inColumns(
    differences,
    invalid.size === 0 ? `The counts of the account ${account} are correct.` : "",
  );
  if (differences.length === 0) return printed;
  const found = `The counts of the account ${account} differ in ${differences.length} places`;
  const repairing = opsCommand(options, `counts verify --repair --account ${account}`);
  if (!options.repair) {
    invalid.print();
    const late = "If an import, a copy or an erasure has just ended, verify again in some minutes.";
    return { ...printed, failure: new UserError(`${found}. ${late} Otherwise, run ${repairing}.`) };
  }
  console.error(`${found}, which are corrected.`);
  return printed;
}

/** What is printed of a wrong tree: of the whole list, or of one source or channel, which is written as in keys. */
const toPlace = ({ owner, differences, damage }: Finding) => ({
  list: `${owner.list.type}s`,
  ...(owner.labelKey !== undefined && { [owner.list.attribute]: owner.labelKey.split("#").at(-1) }),
  ...(differences.length > 0 && { rows: differences.length, first: differences[0]?.sk }),
  damage: damage?.message,
});
