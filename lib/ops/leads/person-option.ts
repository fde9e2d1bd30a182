import { type Command, Option } from "commander";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import type { AccountOptions } from "../command/command.ts";
import { unknownItem } from "../command/known-account.ts";
import { readLeadsByEmail } from "../table/lead-items.ts";
import type { Note } from "../table/unreadable.ts";

/** The options that name a person. */
export interface PersonOptions {
  readonly lead?: string;
  readonly email?: string;
}

/** Adds the options that name a person. */
export const withPerson = (command: Command) =>
  command
    .addOption(new Option("--lead <id>", "the lead's id").conflicts("email"))
    .addOption(new Option("--email <address>", "all leads with this email address, in any letter case"));

/**
 * The items of the leads that the options name.
 *
 * @param note called with leads that may be meant, and cannot be read
 * @throws UserError when they name none
 */
export async function findLeads(
  account: string,
  { lead, email }: PersonOptions,
  pace: Pace,
  note: Note,
): Promise<readonly Item[]> {
  if (lead !== undefined) {
    const item = await pace.retry(() => readItem(leadKey(account, lead)));
    return item ? [item] : [];
  }
  if (email !== undefined) return readLeadsByEmail(account, email, pace, note);
  throw new UserError("Name the person: --lead ID or --email ADDRESS.");
}

/** The error for a person whom the account does not know, or for the account that does not exist. */
export const unknownPerson = (options: AccountOptions & PersonOptions, pace: Pace) =>
  unknownItem(
    options,
    options.lead === undefined ? "lead with this email address" : `lead ${options.lead}`,
    pace,
  );
