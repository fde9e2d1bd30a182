import type { JSONSchema } from "json-schema-to-ts";

/**
 * The parts of which the schema of a stage's file consists. `errorMessage` completes the sentence "The setting must be …";
 * editors based on VS Code show it, too.
 */

interface Documented {
  /** What the setting means, in Markdown without line breaks: editors show it and docs/configuration.md has it. */
  readonly description: string;
}

export const wholeNumber = <const T extends Documented>(minimum: number, maximum: number, others: T) => ({
  type: "integer" as const,
  minimum,
  maximum,
  errorMessage: `a whole number from ${minimum} to ${maximum}`,
  ...others,
});

export const flag = <const T extends Documented>(others: T) => ({
  type: "boolean" as const,
  errorMessage: "true or false",
  ...others,
});

/** A text. @param errorMessage which ones are allowed */
export const text = <const T extends Documented & Pick<JSONSchema & object, "pattern" | "format" | "anyOf">>(
  errorMessage: string,
  others: T,
) => ({ type: "string" as const, errorMessage, ...others });

/** One of some values. @param errorMessage which ones, if they are more than a few */
export const choice = <const V extends string | number, const T extends Documented>(
  values: readonly V[],
  others: T,
  errorMessage = values.join(" or "),
) => ({ enum: values, errorMessage, ...others });
