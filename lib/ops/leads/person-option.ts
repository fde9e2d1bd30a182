import { type Command, Option } from "commander";
import { readNamed } from "../../../shared/domain/create-lead.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../user-error.ts";
import type { AccountOptions } from "../command/command.ts";
import { unknownItem } from "../command/known-account.ts";
import type { Note } from "../table/invalid-items.ts";
import { isKeyPart, readLeadsByEmail } from "../table/read-items.ts";

/** The options that name a person. */
export interface PersonOptions {
  readonly lead?: string;
  readonly email?: string;
  readonly externalId?: string;
}

/** Adds the options that name a person. */
export const withPerson = (command: Command) =>
  command
    .addOption(new Option("--lead <id>", "the lead's id").conflicts(["email", "externalId"]))
    .addOption(new Option("--email <address>", "all leads with this email address, in any letter case"))
    .addOption(new Option("--external-id <id>", "the lead with this external id").conflicts("email"));

/** How the options name the person. @throws UserError when they do not */
export function namedBy({ lead, email, externalId }: PersonOptions) {
  if (lead !== undefined) return { value: lead, by: "id" } as const;
  if (email !== undefined) return { value: email, by: "email address" } as const;
  if (externalId !== undefined) return { value: externalId, by: "external id" } as const;
  throw new UserError("Name the person: --lead ID, --email ADDRESS or --external-id ID.");
}

/**
 * The items of the leads that the options name.
 *
 * @param note called with items that may be meant, and cannot be read
 */
export async function findLeads(
  account: string,
  options: PersonOptions,
  pace: Pace,
  note: Note,
): Promise<readonly Item[]> {
  const { value, by } = namedBy(options);
  if (by === "email address") return readLeadsByEmail(account, value, pace, note);
  const item = await pace.retry(async () => {
    if (by === "id") return readItem(leadKey(account, value));
    return isKeyPart(value) ? (await readNamed(account, value)).item : undefined;
  });
  return item ? [item] : [];
}

/** The error for a person whom the account does not know, or for the account that does not exist. */
export function unknownPerson(options: AccountOptions & PersonOptions, pace: Pace) {
  const { value, by } = namedBy(options);
  return unknownItem(options, by === "id" ? `lead ${value}` : `lead with this ${by}`, pace);
}
