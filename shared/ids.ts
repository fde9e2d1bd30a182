import { decodeTime, ulid } from "ulid";

/** A ULID, as it stands in every id. */
export const ulidPattern = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

/**
 * A new id `<prefix>_<ulid>`: ids of one prefix sort by their time of creation.
 *
 * @param at milliseconds since the epoch
 * @see https://github.com/ulid/spec
 */
export const newId = (prefix: "lead" | "conv" | "msg", at = Date.now()) => `${prefix}_${ulid(at)}`;

/** The creation time of an id, in milliseconds since the epoch. */
export const idTimestamp = (id: string) => decodeTime(id.slice(id.indexOf("_") + 1));

/** The same as an ISO 8601 UTC timestamp. */
export const createdAt = (id: string) => new Date(idTimestamp(id)).toISOString();
