import { randomInt } from "node:crypto";
import { decodeTime, encodeTime, ulid } from "ulid";

/** The random numbers of a ULID, one for each character: its own would load the whole of Web Crypto. */
const random = () => randomInt(32) / 32;

/** A ULID, as it stands in every id. */
export const ulidPattern = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

/**
 * How far ahead of this clock the time of an id may be, in milliseconds: a message of a conversation is later than the one
 * before it, which may be a minute ahead, and clocks differ.
 */
export const maxIdAhead = 120_000;

/** Whether a value has the form of an id with a prefix. */
export const hasIdForm = (prefix: string, value: unknown): value is string =>
  typeof value === "string" && new RegExp(`^${prefix}_${ulidPattern}$`).test(value);

/** Whether a value is an id with a prefix that may have been given by now. */
export const isId = (prefix: string, value: unknown): value is string =>
  hasIdForm(prefix, value) && hasCome(value);

/** Whether the time of an id has come. */
export const hasCome = (id: string) => idTimestamp(id) <= Date.now() + maxIdAhead;

/** What an id names, by its prefix. */
const kinds = { lead: "lead", conv: "conversation", msg: "message" } as const;

/**
 * A new id `<prefix>_<ulid>`: ids of one prefix sort by their time of creation.
 *
 * @param at milliseconds since the epoch
 * @see https://github.com/ulid/spec
 */
export const newId = (prefix: keyof typeof kinds | "erasure" | "change" | "import", at = Date.now()) =>
  // For the time 0, `ulid` takes the current one.
  `${prefix}_${encodeTime(at)}${ulid(at, random).slice(10)}`;

/** What an id names; undefined if its prefix does not tell. */
export const idKind = (id: string) =>
  Object.entries(kinds).find(([prefix]) => id.startsWith(`${prefix}_`))?.[1];

/** The creation time of an id, in milliseconds since the epoch. */
export const idTimestamp = (id: string) => decodeTime(id.slice(id.indexOf("_") + 1));

/** The same as an ISO 8601 UTC timestamp. */
export const createdAt = (id: string) => new Date(idTimestamp(id)).toISOString();
