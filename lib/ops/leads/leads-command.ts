import { Command, Option } from "commander";
import { updateLead } from "../../../shared/domain/create-lead.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../shared/dynamodb/table-client.ts";
import { createdAt, isId } from "../../../shared/ids.ts";
import { type Lead, leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import {
  type AccountOptions,
  command,
  leftOutCodes,
  type PacedAccountOptions,
  parseNumber,
} from "../command/command.ts";
import { unknownItem } from "../command/known-account.ts";
import { selectPacedTable, selectTableByOptions } from "../command/select-table.ts";
import { readErasedLeads } from "../erasure/erased-leads.ts";
import { formatColumns } from "../output/columns.ts";
import { InvalidItems } from "../table/invalid-items.ts";
import { retryChange } from "../table/write-items.ts";
import { eraseCommand } from "./leads-erase.ts";
import { exportCommand } from "./leads-export.ts";
import { importCommand } from "./leads-import.ts";
import { showCommand } from "./leads-show.ts";

interface LeadOptions extends AccountOptions {
  readonly lead: string;
}

/** `leads set-status|set-score|import|export|show|erase|erased`: the leads of an account. */
export function leadsCommand(): Command {
  const leads = new Command("leads").description(
    "change, import, export, show and erase the leads of an account",
  );
  leads.addCommand(
    command("set-status", "change the status of a lead", { writes: true })
      .requiredOption("--lead <id>", "the lead's id")
      .addOption(
        new Option("--status <status>", "the new status").choices(leadStatuses).makeOptionMandatory(),
      )
      .action(setFields),
  );
  leads.addCommand(
    command("set-score", "change the score of a lead", { writes: true })
      .requiredOption("--lead <id>", "the lead's id")
      .requiredOption("--score <number>", "the new score, a whole number from 0 to 100", parseScore)
      .action(setFields),
  );
  return leads
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(showCommand())
    .addCommand(eraseCommand())
    .addCommand(
      command("erased", "list the ids of erased leads", { paced: true })
        .addHelpText("after", leftOutCodes)
        .action(listErased),
    );
}

const parseScore = parseNumber(0, 100, "A score is a whole number from 0 to 100.");

async function setFields(options: LeadOptions & Partial<Pick<Lead, "status" | "score">>): Promise<void> {
  await selectTableByOptions(options);
  const { account, lead: id, status, score, json } = options;
  const lead = await setLeadFields(account, id, status === undefined ? { score } : { status });
  if (!lead) throw await unknownItem(options, `lead ${id}`);
  const sentence = `The lead ${id} has the status ${lead.status} and the score ${lead.score}.`;
  console.log(json ? JSON.stringify(lead) : sentence);
}

/**
 * Changes fields of a lead.
 *
 * @returns the changed lead; undefined when the account has no such lead
 * @throws InvalidItemError, StaleReadError, or the error of a conflict, when other writers won for ten seconds
 */
export const setLeadFields = (
  account: string,
  id: string,
  fields: Partial<Pick<Lead, "status" | "score">>,
): Promise<Lead | undefined> =>
  retryChange(async () => {
    const item = await readItem(leadKey(account, id));
    return item && (await updateLead(account, item, fields)).record;
  });

/** Which leads were erased, for example to erase them again in a restored table. */
async function listErased(options: PacedAccountOptions): Promise<void> {
  const pace = await selectPacedTable(options);
  const { account, json } = options;
  const invalid = new InvalidItems();
  const leads = await readErasedLeads(account, pace, invalid.note);
  const erased = leads.map(({ id, leadId, pending = false }) => ({
    leadId,
    erasedAt: isId("erasure", id) ? createdAt(id) : undefined,
    pending,
  }));
  if (json) console.log(JSON.stringify(erased));
  else if (erased.length === 0) console.log(`The account ${account} has no erased leads.`);
  else console.log(formatColumns(erased));
  invalid.print();
}
