import { Command, InvalidArgumentError, Option } from "commander";
import { type Lead, leadStatuses } from "../../shared/schemas/lead-schemas.ts";
import { UserError } from "../errors.ts";
import { type WritingOptions, writingCommand } from "./account-command.ts";
import { deadline } from "./deadline.ts";
import { exportCommand } from "./import-export/leads-export.ts";
import { importCommand } from "./import-export/leads-import.ts";
import { type ConnectionOptions, selectTable } from "./select-table.ts";

interface LeadOptions extends WritingOptions {
  readonly lead: string;
}

/** `leads set-status|set-score|import|export`: how an operator moves leads. */
export function leadsCommand(): Command {
  const leads = new Command("leads").description("change, import and export an account's leads");
  leads.addCommand(
    writingCommand("set-status", "give a lead another status")
      .requiredOption("--lead <id>", "the lead's id")
      .addOption(
        new Option("--status <status>", "the new status").choices(leadStatuses).makeOptionMandatory(),
      )
      .action(setStatus),
  );
  leads.addCommand(
    writingCommand("set-score", "give a lead another score")
      .requiredOption("--lead <id>", "the lead's id")
      .requiredOption("--score <number>", "the new score, a whole number from 0 to 100", score)
      .action(setScore),
  );
  return leads.addCommand(importCommand()).addCommand(exportCommand());
}

function score(text: string): number {
  if (!/^(?:\d{1,2}|100)$/.test(text)) {
    throw new InvalidArgumentError("A score is a whole number from 0 to 100.");
  }
  return Number(text);
}

/** The module is imported only here, because it connects to the table that `selectTable` has chosen. */
async function leadsModule(options: ConnectionOptions) {
  await selectTable(options);
  return import("./lead-changes.ts");
}

async function setStatus(options: LeadOptions & { status: Lead["status"] }): Promise<void> {
  const { setLeadStatus } = await leadsModule(options);
  const { account, lead, status, dryRun } = options;
  report(options, await setLeadStatus(account, lead, status, deadline(), dryRun));
}

async function setScore(options: LeadOptions & { score: number }): Promise<void> {
  const { setLeadScore } = await leadsModule(options);
  const { account, lead, score, dryRun } = options;
  report(options, await setLeadScore(account, lead, score, deadline(), dryRun));
}

function report({ account, lead: id, json, dryRun }: LeadOptions, lead: Lead | undefined): void {
  if (!lead) throw new UserError(`The account ${account} has no lead ${id}.`);
  const { status, score } = lead;
  const verb = dryRun ? "would have" : "has";
  console.log(
    json ? JSON.stringify(lead) : `The lead ${id} ${verb} the status ${status} and the score ${score}.`,
  );
}
