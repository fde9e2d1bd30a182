import { NumberValue } from "@aws-sdk/lib-dynamodb";

/**
 * The size of an item in bytes as DynamoDB counts it, including keys and attribute names.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemSize(item: Readonly<Record<string, unknown>>): number {
  let size = 0;
  for (const name in item) size += textSize(name) + valueSize(item[name]);
  return size;
}

const textSize = (text: string) => Buffer.byteLength(text);

function valueSize(value: unknown): number {
  if (typeof value === "string") return textSize(value);
  if (typeof value === "number" || value instanceof NumberValue)
    return Math.ceil(String(value).replace(/\D|0+$/g, "").length / 2) + 1;
  if (typeof value === "boolean" || value === null) return 1;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Set) return [...value].reduce((size: number, element) => size + valueSize(element), 0);
  if (Array.isArray(value)) return value.reduce((size: number, element) => size + 1 + valueSize(element), 3);
  if (isMap(value)) return itemSize(value) + Object.keys(value).length + 3;
  throw new Error(`The size of a value such as ${String(value)} is not known.`);
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
