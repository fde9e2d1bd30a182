import type { Command } from "commander";
import { createdAt, ulidPattern } from "../../../shared/ids.ts";
import { formatColumns } from "../common/columns.ts";
import {
  type AccountOptions,
  accountCommand,
  type PacedOptions,
  selectPacedTable,
} from "../common/options.ts";
import { unitsOption } from "../common/pace.ts";
import { readErasedLeads } from "./erased-leads.ts";

/** `leads erased`: which leads were erased, for example to erase them again in a restored table. */
export const erasedCommand = (): Command =>
  accountCommand("erased", "list the ids of erased leads").addOption(unitsOption()).action(listErased);

async function listErased(options: AccountOptions & PacedOptions): Promise<void> {
  const pace = await selectPacedTable(options);
  const { account, json } = options;
  const leads = await readErasedLeads(account, pace);
  const erased = leads.map(({ id, leadId, pending = false }) => ({
    leadId,
    erasedAt: isErasureId(id) ? createdAt(id) : undefined,
    pending,
  }));
  if (json) return console.log(JSON.stringify(erased));
  if (erased.length === 0) return console.log(`The account ${account} has no erased leads.`);
  console.log(formatColumns(erased));
}

const isErasureId = (id: unknown) => new RegExp(`^erasure_${ulidPattern}$`).test(String(id));
