/** How a setting is parsed. The command line passes every value as text. */
export interface Setting<T> {
  /** Completes the sentence "The value must be …". */
  readonly allowed: string;
  /** Returns undefined for an invalid value. */
  readonly parse: (text: string) => T | undefined;
}

export function choice<T extends string>(values: readonly T[]): Setting<T> {
  return { allowed: values.join(" or "), parse: (text) => values.find((value) => value === text) };
}

export function wholeNumber(minimum: number, maximum: number): Setting<number> {
  const parse = (text: string) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  };
  return { allowed: `a whole number from ${minimum} to ${maximum}`, parse };
}

const flags = new Map([
  ["true", true],
  ["false", false],
]);

export const flag: Setting<boolean> = { allowed: "true or false", parse: (text) => flags.get(text) };
