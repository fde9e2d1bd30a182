const itemTexts = new WeakMap<object, string>();

/** A value as text: equal values have the same text, whatever the order of their attributes. */
export function toText(value: unknown): string {
  if (typeof value !== "object" || value === null)
    return typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? "");
  if (value instanceof Uint8Array) return `<${Buffer.from(value).toString("base64")}>`;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (Array.isArray(value)) return `[${value.map(toText).join()}]`;
  const known = Object.isFrozen(value) ? itemTexts.get(value) : undefined;
  if (known !== undefined) return known;
  const attributes = Object.entries(value)
    .filter(([, attribute]) => attribute !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, attribute]) => `${name}:${toText(attribute)}`);
  const text = `{${attributes.join()}}`;
  if (Object.isFrozen(value)) itemTexts.set(value, text);
  return text;
}

/** The value of a key, which is made only once. */
export function remember<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** Gives texts numbers: equal texts have the same number. */
export class Numbers {
  readonly #numbers = new Map<string, number>();

  of(text: string): number {
    return remember(this.#numbers, text, () => this.#numbers.size);
  }
}
