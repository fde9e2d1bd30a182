import { NumberValueImpl } from "@aws-sdk/util-dynamodb";
import { type InvalidItem, InvalidItemError } from "../errors.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";

type Item = Readonly<Record<string, unknown>>;

/** Checks that an item has the keys that its record gives. @throws InvalidItemError */
export function checkKeys(item: Item, built: Item, names: readonly string[] = ["pk", "sk"]): void {
  const field = names.find((name) => item[name] !== built[name]);
  if (field !== undefined) throw new InvalidItemError(item, field);
}

/** The result of a reading; undefined for a invalid item, which is logged, or told to `onInvalid`. */
export function ifValid<T>(
  read: () => T,
  onInvalid: (item: InvalidItem) => void = logInvalidItem,
): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InvalidItemError)) throw error;
    onInvalid(error);
    return undefined;
  }
}

/** A invalid item, without its sort key if that is what a caller sent. */
type LoggedItem = Pick<InvalidItem, "pk"> & Partial<InvalidItem>;

/** The partitions of which this environment has logged an item. */
const logged = new Set<string>();

/** More partitions than an operator looks at. */
const maxLogged = 1000;

/**
 * Logs the key of a invalid item, once for a partition in an execution environment, so that many in one do not hide the
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
