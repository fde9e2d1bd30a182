import fc from "fast-check";
import type { FuzzRequest } from "./request.ts";
import { anyText } from "./text.ts";

/** How a request becomes an event: as the gateway builds it, or in ways that it never would. */
export interface EventShape {
  /** As text, as base64, or with the wrong flag. */
  readonly transfer: "text" | "base64" | "text called base64" | "base64 called text";
  /** Replaces the query, whatever its verdict. */
  readonly rawQueryString: string | null;
  /** Replaces the body's text. */
  readonly rawBody: string | null;
}

const rarely = (text: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: text });

/** A query with characters that a gateway would always receive encoded. */
const anyQuery = fc
  .tuple(fc.constantFrom("", "leadId=", "channel=", "source=", "page="), anyText)
  .map((parts) => parts.join(""));

export const eventShape: fc.Arbitrary<EventShape> = fc.record({
  transfer: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom("text" as const, "base64" as const) },
    { weight: 1, arbitrary: fc.constantFrom("text called base64" as const, "base64 called text" as const) },
  ),
  rawQueryString: rarely(anyQuery),
  rawBody: rarely(anyText),
});

/** Whether the event still represents its request. */
export const isFaithful = ({ transfer, rawQueryString, rawBody }: EventShape, { body }: FuzzRequest) =>
  (transfer === "text" || transfer === "base64" || !body) && rawQueryString === null && rawBody === null;

/** Identity sources that an authorizer may receive. */
export const identity = fc.oneof(
  fc.array(anyText, { maxLength: 2 }),
  anyText.map((text) => [`Bearer ${text}`]),
  fc
    .tuple(fc.constantFrom("lck_", "LCK_", "lck__", ""), fc.stringMatching(/^[0-9A-Za-z_]{0,80}$/))
    .map(([prefix, rest]) => [`Bearer ${prefix}${rest}`]),
  fc.constantFrom(undefined, null, ["Bearer ".repeat(1000)], [`Bearer${" ".repeat(5000)}x y`]),
);
