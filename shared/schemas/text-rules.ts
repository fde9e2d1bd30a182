import type { FaultCode } from "../errors.ts";
import { ulidPattern } from "../ids.ts";
import { limit, maxLimit, maxPage, page } from "./page-schemas.ts";

/** No control characters and no unpaired surrogates. */
export const oneLine = "^[^\\p{Cc}\\p{Cs}]*$";

/** The same, but line breaks and tabs are allowed. */
export const lines = "^(?:[^\\p{Cc}\\p{Cs}]|[\\t\\n\\r])*$";

const shown = "[^,\\s\\p{Cc}\\p{Cf}\\p{Cs}\\p{DI}\\u2800]";

/** Visible characters without the comma, which separates the values of a query parameter. */
export const visible = `^${shown}*$`;

/** Visible characters, or a telephone number, in which people write blanks. */
const addressText = `(?:${shown}+|(?:\\(\\+|[+(\\d])[\\d ()./-]*)`;
export const address = `^${addressText}?$`;

/** The name of a template of WhatsApp. */
export const templateName = "^[a-z0-9_]*$";

/** A channel and an address. A + that is not percent-encoded in a query arrives as a blank before the digits. */
export const channelAddress = `^[^:,]+: ?${addressText}$`;

/** Each rejects the ids of one kind of record, which a filter by another kind cannot find. Any other text may be an id. */
export const notLeadId = "^(?!lead_)";
export const notConversationId = "^(?!conv_)";
export const notMessageId = "^(?!msg_)";

export const messageId = `^msg_${ulidPattern}$`;

/** The code and the message of a string that does not match a pattern, for every pattern in the schemas of requests. */
export const textRules: Readonly<Record<string, readonly [code: FaultCode, message: string]>> = {
  [oneLine]: ["invalid_characters", "must not contain control characters or unpaired surrogates"],
  [lines]: [
    "invalid_characters",
    "must not contain control characters (line breaks and tabs are allowed) or unpaired surrogates",
  ],
  [visible]: ["invalid_characters", "must have visible characters only, without spaces and commas"],
  [address]: [
    "invalid_characters",
    "must have visible characters only, without commas (blanks only in a telephone number)",
  ],
  [templateName]: [
    "invalid_characters",
    "must have only lower-case letters of ASCII, digits and underscores",
  ],
  [channelAddress]: ["invalid_format", "must be a channel and an address, such as whatsapp:%2B4917700000001"],
  [notLeadId]: ["invalid_format", "is the id of a lead, not of a conversation"],
  [notConversationId]: ["invalid_format", "is the id of a conversation, not of a lead"],
  [notMessageId]: ["invalid_format", "is the id of a message, not of a lead or a conversation"],
  [messageId]: ["invalid_format", "must be the id of a message"],
  [page.pattern]: ["out_of_range", `must be a whole number from 1 to ${maxPage}, in plain digits`],
  [limit.pattern]: ["out_of_range", `must be a whole number from 1 to ${maxLimit}, in plain digits`],
};
