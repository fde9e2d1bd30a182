import { setTimeout } from "node:timers/promises";
import type { Command } from "commander";
import {
  type AccountOptions,
  type PacedOptions,
  selectPacedTable,
  writingCommand,
} from "../common/options.ts";
import type { Wait } from "../common/pace.ts";
import { type Pace, unitsOption } from "../common/pace.ts";
import { withProgress } from "../common/progress.ts";
import { countTableItems } from "../common/read-items.ts";
import { findLeads, type PersonOptions, unknownPerson, withPerson } from "../leads/person-option.ts";
import { countErasedItems, type ErasedItems, eraseLeads } from "./erase-leads.ts";
import { isErased, readErasedLeads } from "./erased-leads.ts";

type EraseOptions = AccountOptions & PacedOptions & PersonOptions & { readonly scan: boolean };

/** `leads erase`: deletes everything that is stored of a person. */
export const eraseCommand = (wait: Wait = setTimeout): Command =>
  withPerson(
    writingCommand(
      "erase",
      "delete a lead with its conversations, messages and all that names it; after a failure, run it again to continue",
    ),
  )
    .addOption(unitsOption())
    .option(
      "--no-scan",
      "keep idempotency records, which expire within 24 hours, instead of reading the whole table",
    )
    .addHelpText("after", "\nIt also finishes the erasures of the account that have not ended.")
    .action((options: EraseOptions) => erase(options, wait));

async function erase(options: EraseOptions, wait: Wait): Promise<void> {
  const pace = await selectPacedTable(options, wait);
  const { account, scan, dryRun } = options;
  const ids = await findErasable(options, pace);
  const items = await withProgress("Erasing", countTableItems, (onRows) =>
    dryRun
      ? countErasedItems(account, ids, { pace, scan, onRows })
      : eraseLeads(account, ids, { pace, wait, scan, onRows }),
  );
  report(options, ids, items);
}

/**
 * The leads to erase: those that the options name, and those whose erasure has not ended.
 *
 * @throws UserError when there are none
 */
async function findErasable(options: EraseOptions, pace: Pace): Promise<readonly string[]> {
  const { account, lead } = options;
  const found = (await findLeads(account, options, pace)).map(({ sk }) => String(sk));
  const ids = new Set(found);
  for await (const leads of readErasedLeads(account, pace))
    for (const { leadId, pending } of leads) if (pending) ids.add(leadId);
  if (lead !== undefined && (await pace.retry(() => isErased(account, lead)))) ids.add(lead);
  const isKnown = lead === undefined ? ids.size > 0 : ids.has(lead);
  if (!isKnown) throw unknownPerson(account, options);
  return [...ids];
}

function report(
  { account, scan, json, dryRun }: EraseOptions,
  leads: readonly string[],
  items: ErasedItems,
): void {
  const { conversations, messages, pointers, idempotencyRecords } = items;
  const records = scan
    ? `${idempotencyRecords} idempotency records`
    : "no idempotency records, which expire within 24 hours";
  const verb = dryRun ? "would be erased" : "erased";
  const sentence = `${leads.join(", ")} ${verb}: ${conversations} conversations, ${messages} messages, ${pointers} pointers, ${records}.`;
  console.log(json ? JSON.stringify({ account, leads, ...items }) : sentence);
}
