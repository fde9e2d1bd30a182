/** Every problem that a handler may respond with: its status and its title, by code. */
export const problems = {
  invalid_input: { status: 400, title: "Invalid input" },
  insufficient_access: { status: 403, title: "Insufficient access" },
  lead_exists: { status: 409, title: "Lead exists" },
  conversation_exists: { status: 409, title: "Conversation exists" },
  conversation_changed: { status: 409, title: "Conversation changed" },
  lead_not_found: { status: 404, title: "Lead not found" },
  conversation_not_found: { status: 404, title: "Conversation not found" },
  message_not_found: { status: 404, title: "Message not found" },
  idempotency_key_reused: { status: 422, title: "Idempotency key reused" },
  unsupported_media_type: { status: 415, title: "Unsupported media type" },
  rate_limited: { status: 429, title: "Rate limit used up" },
  too_many_at_once: { status: 429, title: "Too many at once" },
  internal_error: { status: 500, title: "Internal error" },
  busy: { status: 503, title: "Busy" },
  account_frozen: { status: 503, title: "Account frozen" },
} as const;

export type ProblemCode = keyof typeof problems;

/** The parts of a request that can have a fault. */
export const faultPlaces = ["query", "body", "header"] as const;

export const faultCodes = [
  "required",
  "unknown",
  "wrong_type",
  "not_allowed",
  "too_short",
  "too_long",
  "too_many",
  "blank",
  "invalid_characters",
  "invalid_format",
  "out_of_range",
  "repeated",
  "invalid_encoding",
  "unexpected",
  "too_large",
  "too_deep",
  "invalid_json",
  "forbidden_key",
  "duplicate_key",
  "unsupported",
] as const;

export type FaultCode = (typeof faultCodes)[number];

/** One fault of a request: where it is, its field (`""` for the whole body), a code and a sentence. */
export interface Fault {
  readonly in: (typeof faultPlaces)[number];
  readonly field: string;
  readonly code: FaultCode;
  readonly message: string;
}

interface ProblemDetails {
  readonly faults?: readonly Fault[];
  /** Seconds after which the caller may retry. */
  readonly retryAfter?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The id of the record that the response is about. */
  readonly id?: string;
}

/** The error that handlers and domain functions throw on purpose. `problemResponses` turns every other error into one. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  /** @param detail a sentence for the caller, which reveals no internals */
  constructor(code: ProblemCode, detail: string, { cause, ...details }: ProblemDetails & ErrorOptions = {}) {
    super(detail, { cause });
    this.code = code;
    this.details = details;
  }
}

/** A fault of a field of the body. An empty field name stands for the whole body. */
export const bodyFault = (field: string, code: FaultCode, message: string) =>
  ({ in: "body", field, code, message }) as const;

/** How many faults a response lists at most. */
export const maxFaults = 100;

/** How many faults the detail of a problem names at most. */
const namedFaults = 5;

/** The error for a request with faults; its detail names the first ones. */
export function invalidInput(faults: readonly Fault[]): ApiError {
  const named = faults.slice(0, namedFaults).map(({ field, message }) => `${field || "body"} ${message}`);
  const more = faults.length > namedFaults ? "; and more" : "";
  return new ApiError("invalid_input", `The request is invalid: ${named.join("; ")}${more}.`, { faults });
}

/** How many UTF-16 units of a name in the request a fault repeats. */
const maxNameLength = 64;

/**
 * The name of a member of `parent`, such as `tags`, or `tags[3]` in `tags`. An empty name becomes `""`, because the empty
 * name stands for the whole body. A long name is cut.
 *
 * @param parent undefined for the whole body or query
 */
export function memberName(parent: string | undefined, member: string | number): string {
  const isName = parent === undefined && typeof member === "string";
  const name = isName ? member || '""' : `${parent ?? ""}[${member}]`;
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name;
}

/** Thrown for a stored item that the service's own code never writes. A compromised function may have written it. */
export class InvalidItemError extends Error {
  override readonly name = "InvalidItemError";
  readonly pk: string;
  readonly sk: string;
  /** The attribute that is missing, has another type, or does not fit the key. */
  readonly field: string;

  constructor({ pk, sk }: Readonly<Record<string, unknown>>, field: string) {
    super(`The item ${pk} ${sk} is invalid: ${field}.`);
    this.pk = String(pk);
    this.sk = String(sk);
    this.field = field;
  }
}
