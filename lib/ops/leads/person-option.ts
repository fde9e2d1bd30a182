import { type Command, Option } from "commander";
import { nameKeys, readName } from "../../../shared/domain/lead-names.ts";
import { toAddresses } from "../../../shared/domain/leads.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { UserError } from "../../user-error.ts";
import { type Tools, unknownItem } from "../command/action.ts";
import type { AccountOptions } from "../command/command.ts";
import { readEach, readLeadsByEmail } from "../table/read-items.ts";

/** The options that name a person, each with its words for messages. */
const kinds = { lead: "id", email: "email address", externalId: "external id", address: "address" } as const;

export type PersonOptions = AccountOptions & { readonly lead?: readonly string[] } & {
  readonly [Kind in Exclude<keyof typeof kinds, "lead">]?: string;
};

/** Adds the options that name a person. A command takes exactly one of them. */
export function withPerson(command: Command): Command {
  const options = [
    new Option("--lead <id...>", "the lead's id, or the ids of several leads").argParser(
      (id: string, others: readonly string[] = []) => [...new Set([...others, id])],
    ),
    new Option(
      "--email <address>",
      "all leads with this email address, in their email or their addresses, in any letter case",
    ).argParser((text) => text.trim()),
    new Option("--external-id <id>", "the lead with this external id"),
    new Option("--address <address>", "the lead with this address, such as whatsapp:+4917700000001"),
  ];
  for (const [i, option] of options.entries())
    command.addOption(option.conflicts(Object.keys(kinds).slice(i + 1)));
  return command;
}

/** What the option that names the person is called in messages. @throws UserError when there is none */
function namedBy(options: PersonOptions) {
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const name = names.find((each) => options[each] !== undefined);
  if (name === undefined || (name === "address" && !/^[^:]+:./.test(options.address ?? "")))
    throw new UserError(
      "Name the person: --lead ID, --email ADDRESS, --external-id ID or --address CHANNEL:ADDRESS.",
    );
  return kinds[name];
}

/** The items of the leads that the options name. Leads that may be meant but cannot be read are noted as invalid. */
export async function findLeads(options: PersonOptions, { pace, invalid }: Tools) {
  // Refuses options that name nobody.
  namedBy(options);
  const { account, lead, email, externalId, address = `email:${email}` } = options;
  const keys = lead?.map((id) => leadKey(account, id));
  if (keys) return readEach(keys, pace);
  const byEmail = email === undefined ? [] : await readLeadsByEmail(account, email, pace, invalid);
  const name = externalId === undefined ? { addresses: toAddresses(address) } : { externalId };
  const [key] = nameKeys(account, name);
  const item = await pace.retry(async () => key && (await readName(account, key)).item);
  return item ? [...byEmail.filter(({ sk }) => sk !== item.sk), item] : byEmail;
}

/**
 * The error for a person who is unknown to the account, or for an account that does not exist; undefined if all are known.
 *
 * @param known the ids of the named leads that exist
 */
export async function unknownPerson(options: PersonOptions, pace: Pace, known: ReadonlySet<string>) {
  if (options.lead?.every((id) => known.has(id)) ?? known.size > 0) return undefined;
  const unknown = options.lead?.filter((id) => !known.has(id));
  const item = unknown ? `lead ${unknown.join(", ")}` : `lead with this ${namedBy(options)}`;
  return unknownItem(options, item, pace);
}
