import { randomInt } from "node:crypto";
import { decodeTime, encodeTime, ulid } from "ulid";

/** The random source of a ULID, called once for each character. The default of `ulid` would load all of Web Crypto. */
const random = () => randomInt(32) / 32;

/** The pattern of the ULID in every id. */
export const ulidPattern = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

/**
 * How far ahead of this clock the time of an id may be, in milliseconds. Clocks differ, and each message of a conversation
 * is later than the previous message, which may be a minute ahead.
 */
export const maxIdAhead = 120_000;

/** Whether a value has the form of an id with a prefix. */
export const hasIdForm = (prefix: string, value: unknown): value is string =>
  typeof value === "string" && new RegExp(`^${prefix}_${ulidPattern}$`).test(value);

/** Whether a value is an id with a prefix, and its time has come, or is at most `maxIdAhead` ahead. */
export const isId = (prefix: string, value: unknown): value is string =>
  hasIdForm(prefix, value) && idTimestamp(value) <= Date.now() + maxIdAhead;

/** The prefixes of the ids that items have, by item type. */
export const idPrefixes = {
  lead: "lead",
  conversation: "conv",
  message: "msg",
  erasedLead: "erasure",
} as const;

/**
 * A new id `<prefix>_<ulid>`: ids of one prefix sort by their time of creation.
 *
 * @param at milliseconds since the epoch
 * @see https://github.com/ulid/spec
 */
export const newId = (
  prefix: (typeof idPrefixes)[keyof typeof idPrefixes] | "change" | "import",
  at = Date.now(),
) =>
  // `ulid` replaces the time 0 by the current time.
  `${prefix}_${encodeTime(at)}${ulid(at, random).slice(10)}`;

/** The creation time of an id, in milliseconds since the epoch. */
export const idTimestamp = (id: string) => decodeTime(id.slice(id.indexOf("_") + 1));

/** The creation time of an id, as an ISO 8601 UTC timestamp. */
export const createdAt = (id: string) => new Date(idTimestamp(id)).toISOString();
