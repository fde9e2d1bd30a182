import { NumberValueImpl } from "@aws-sdk/util-dynamodb";
import { InvalidItemError } from "../errors.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";
import { type Item, readRecord } from "../schemas/record.ts";
import type { Validator } from "../schemas/validator.ts";

/** Checks that an item has the keys that follow from its record. @throws InvalidItemError */
export function checkKeys(item: Item, built: Item, names: readonly string[] = ["pk", "sk"]) {
  const field = names.find((name) => item[name] !== built[name]);
  if (field !== undefined) throw new InvalidItemError(item, field);
}

/** A function that reads the record of an item whose keys must follow from that record. @throws InvalidItemError */
export const checkedReader =
  <T>(validate: Validator<T>, toItem: (record: T) => Item, keys?: readonly string[]) =>
  (item: Item): T => {
    const record = readRecord(validate, item);
    checkKeys(item, toItem(record), keys);
    return record;
  };

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;
type Checked<Fields extends Checks> = {
  readonly [Name in keyof Fields]: Fields[Name] extends (value: unknown) => value is infer T ? T : never;
};

/**
 * Reads the fields of an item that is not a record of the API, and so has no schema. Its other attributes are left out.
 *
 * @throws InvalidItemError for a field that fails its check
 */
export function readFields<Fields extends Checks>(item: Item, checks: Fields): Checked<Fields> {
  const [wrong] = Object.entries(checks).find(([name, check]) => !check(item[name])) ?? [];
  if (wrong !== undefined) throw new InvalidItemError(item, wrong);
  const names = Object.keys(checks).filter((name) => item[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, item[name]])) as Checked<Fields>;
}

/** A check of a field that may be missing. */
export const optional =
  <T>(check: (value: unknown) => value is T) =>
  (value: unknown): value is T | undefined =>
    value === undefined || check(value);

/** Whether a value is a whole number from 0 that JavaScript represents exactly. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** Whether a value is a text that is not empty, and no longer than a part of a key can be. */
export const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length >= 1 && value.length <= 2048;

/** Returns what `read` returns; undefined for an invalid item, which is logged or passed to `onInvalid`. */
export function ifValid<T>(read: () => T, onInvalid: (item: InvalidItemError) => void = logInvalidItem) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidItemError)) throw error;
    onInvalid(error);
    return undefined;
  }
}

type LoggedItem = Pick<InvalidItemError, "pk" | "sk"> & Partial<Pick<InvalidItemError, "field">>;

/** The partitions of which this environment has logged an item. */
const logged = new Set<string>();

/** More partitions than an operator would look at. */
const maxLogged = 1000;

/**
 * Logs the key of an invalid item. Each execution environment logs one item of a partition, so that a partition with many
 * does not hide the others. A part of the key is left out if it has characters that ids do not have: it may be any text.
 *
 * @param cause an error other than InvalidItemError that the item has caused
 */
export function logInvalidItem({ pk, sk, field }: LoggedItem, cause?: unknown): void {
  if (logged.has(pk) || logged.size >= maxLogged) return;
  logged.add(pk);
  console.error({
    event: logEvents.invalidItem,
    ...(isPlain(pk) && { pk }),
    ...(isPlain(sk) && { sk }),
    field,
    ...(cause !== undefined && { cause: loggedError(cause) }),
  });
}

const isPlain = (part: string) => /^[\w#%.!~*'()-]{1,300}$/.test(part);

/** How numbers are read. By default, the SDK throws for one that JavaScript cannot represent: the whole response is lost. */
export const readNumbers = {
  wrapNumbers: (text: string) => (String(Number(text)) === text ? Number(text) : NumberValueImpl.from(text)),
};
