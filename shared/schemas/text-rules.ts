import type { FaultCode } from "../errors.ts";
import { maxLimit, maxPage } from "./page-bounds.ts";

/** A regular expression that a string must match, with the code and the message of the fault when it does not. */
interface TextRule {
  readonly pattern: string;
  readonly code: FaultCode;
  readonly message: string;
}

/** Every pattern of the schemas of requests; validation faults take their words from here. */
export const textRules = {
  notBlank: { pattern: "\\S", code: "blank", message: "must not be blank" },
  oneLine: {
    pattern: "^[^\\p{Cc}\\p{Cs}]*$",
    code: "invalid_characters",
    message: "must not contain control characters or unpaired surrogates",
  },
  lines: {
    pattern: "^(?:[^\\p{Cc}\\p{Cs}]|[\\t\\n\\r])*$",
    code: "invalid_characters",
    message: "must not contain control characters (line breaks and tabs are allowed) or unpaired surrogates",
  },
  page: {
    pattern: `^[1-9]\\d{0,${String(maxPage).length - 1}}$`,
    code: "out_of_range",
    message: `must be a whole number from 1 to ${maxPage}, in plain digits`,
  },
  limit: {
    // Right for a power of ten alone.
    pattern: `^(?:[1-9]\\d{0,${String(maxLimit).length - 2}}|${maxLimit})$`,
    code: "out_of_range",
    message: `must be a whole number from 1 to ${maxLimit}, in plain digits`,
  },
} as const satisfies Record<string, TextRule>;
