import { NumberValueImpl } from "@aws-sdk/util-dynamodb";
import { InvalidItemError } from "../errors.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";
import { type Attributes, readRecord } from "../schemas/record.ts";
import type { Validator } from "../schemas/validator.ts";

/** Checks that an item has the keys that its record gives. @throws InvalidItemError */
export function checkKeys(item: Attributes, built: Attributes, names: readonly string[] = ["pk", "sk"]) {
  const field = names.find((name) => item[name] !== built[name]);
  if (field !== undefined) throw new InvalidItemError(item, field);
}

/** Reads the record of an item that must have keys which the record gives. @throws InvalidItemError */
export const checkedReader =
  <T>(validate: Validator<T>, toItem: (record: T) => Attributes, keys?: readonly string[]) =>
  (item: Attributes): T => {
    const record = readRecord(validate, item);
    checkKeys(item, toItem(record), keys);
    return record;
  };

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;
type Checked<Fields extends Checks> = {
  readonly [Name in keyof Fields]: Fields[Name] extends (value: unknown) => value is infer T ? T : never;
};

/**
 * The fields of an item that is no record of the API, and so has no schema. Its other attributes are left out.
 *
 * @throws InvalidItemError for a field that is not what its check says
 */
export function readFields<Fields extends Checks>(item: Attributes, checks: Fields): Checked<Fields> {
  const [wrong] = Object.entries(checks).find(([name, check]) => !check(item[name])) ?? [];
  if (wrong !== undefined) throw new InvalidItemError(item, wrong);
  const fields = Object.keys(checks).map((name) => [name, item[name]]);
  return Object.fromEntries(fields) as Checked<Fields>;
}

/** A check of a field that may be missing. */
export const optional =
  <T>(check: (value: unknown) => value is T) =>
  (value: unknown): value is T | undefined =>
    value === undefined || check(value);

/** A whole number that is exact, from 0. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** A text that is not empty, and no longer than a part of a key can be. */
export const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length >= 1 && value.length <= 2048;

/** The result of a reading; undefined for an invalid item, which is logged, or told to `onInvalid`. */
export function ifValid<T>(read: () => T, onInvalid: (item: InvalidItemError) => void = logInvalidItem) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidItemError)) throw error;
    onInvalid(error);
    return undefined;
  }
}

/** An invalid item, without its sort key if that is what a caller sent. */
type LoggedItem = Pick<InvalidItemError, "pk"> & Partial<Pick<InvalidItemError, "sk" | "field">>;

/** The partitions of which this environment has logged an item. */
const logged = new Set<string>();

/** More partitions than an operator looks at. */
const maxLogged = 1000;

/**
 * Logs the key of an invalid item, once for a partition in an execution environment, so that many in one do not hide the
 * others. A part of the key with other characters than ids have is left out: it may be any text.
 *
 * @param cause another error for the item
 */
export function logInvalidItem({ pk, sk = "", field }: LoggedItem, cause?: unknown): void {
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

/** How numbers are read: by default, the SDK throws for one that JavaScript cannot represent, and all of its response is lost. */
export const readNumbers = {
  wrapNumbers: (text: string) => (String(Number(text)) === text ? Number(text) : NumberValueImpl.from(text)),
};
