import { UserError } from "../../user-error.ts";
import { confirm, onTable, type Printed, type Tools } from "../command/action.ts";
import { command } from "../command/command.ts";
import { erase } from "../erasure/erase.ts";
import { readErasedLeads } from "../erasure/erased-leads.ts";
import { ItemsToErase } from "../erasure/items-to-erase.ts";
import { sweep } from "../erasure/sweep-erased.ts";
import { escapeText } from "../output/printed-text.ts";
import { findLeads, type PersonOptions, unknownPerson, withPerson } from "./person-option.ts";

/** `leads erase`: deletes everything that is stored about a person. */
export const eraseCommand = () =>
  withPerson(
    command(
      "erase",
      "delete a lead, its conversations and messages, and everything that names it; after a failure, run it again to continue",
      { paced: true, writes: true },
    ),
  )
    .addHelpText("after", "\nIt also finishes the account's erasures that have not ended.")
    .action(onTable(eraseLeads));

async function eraseLeads(options: PersonOptions, tools: Tools): Promise<Printed> {
  const { account, dryRun, yes } = options;
  const { pace, invalid } = tools;
  const { leads, unfinished, unknown } = await findErasable(options, tools);
  const ids = escapeText([...leads].join(", "));
  // They may be those of the person, if this run continues another, or those of other people.
  const earlier = unfinished > 0 ? ` Leads of earlier erasures that had not ended: ${unfinished}.` : "";
  const found = new ItemsToErase({ account, leads }, invalid);
  if (dryRun) await sweep(found, pace, true);
  else {
    if (!yes) {
      console.error(`${ids} will be erased.${earlier}`);
      await confirm(account, { kind: "account", action: `erase ${leads.size} leads` });
    }
    await erase(found, pace);
  }
  const { conversation: conversations = 0, message: messages = 0, active: locks = 0 } = found.counts;
  const { idempotency: idempotencyRecords = 0 } = found.counts;
  const items = `${conversations} conversations, ${messages} messages, ${locks} locks, ${idempotencyRecords} idempotency records`;
  const failures = [unknown, invalid.toFailure()].flatMap((each) => each?.message ?? []);
  const numbers = { conversations, messages, locks, idempotencyRecords };
  return {
    json: { account, leads: [...leads], ...numbers, invalid: [...invalid.values()] },
    text: `${ids} ${dryRun ? "would be erased" : "erased"}: ${items}.${earlier}`,
    failure: failures.length > 0 ? new UserError(failures.join("\n")) : undefined,
  };
}

/**
 * The leads to erase: the leads that the options name, and all leads whose erasure has not ended.
 *
 * @returns also how many of them the options do not name, and the error for named leads that the account does not have
 * @throws UserError when the account has none of the named leads
 */
async function findErasable(options: PersonOptions, tools: Tools) {
  const { account, lead } = options;
  const { pace, invalid } = tools;
  const rows = await findLeads(options, tools);
  const leads = new Set(rows.map(({ sk }) => String(sk)));
  const erasures = await readErasedLeads(account, pace, invalid);
  for (const { leadId } of erasures) if (lead?.includes(leadId)) leads.add(leadId);
  const named = leads.size;
  for (const { leadId, pending } of erasures) if (pending) leads.add(leadId);
  const unfinished = leads.size - named;
  const unknown = await unknownPerson(options, pace, leads);
  if (!unknown || lead?.some((id) => leads.has(id))) return { leads, unfinished, unknown };
  throw invalid.toFailure() ?? unknown;
}
