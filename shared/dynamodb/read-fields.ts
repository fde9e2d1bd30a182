import { InvalidItemError } from "../errors.ts";

type Check = (value: unknown) => boolean;
type Checks = Readonly<Record<string, Check>>;
type Checked<Fields extends Checks> = {
  readonly [Name in keyof Fields]: Fields[Name] extends (value: unknown) => value is infer T ? T : never;
};

/**
 * The fields of an item that is no record of the API, and so has no schema. Its other attributes are left out.
 *
 * @throws InvalidItemError for a required field that is missing, or one that is not what its check says
 */
export function readFields<Required extends Checks, Optional extends Checks>(
  item: Readonly<Record<string, unknown>>,
  required: Required,
  optional: Optional,
): Checked<Required> & Partial<Checked<Optional>> {
  const present = Object.entries(optional).filter(([name]) => item[name] !== undefined);
  const checks = [...Object.entries(required), ...present];
  const [wrong] = checks.find(([name, check]) => !check(item[name])) ?? [];
  if (wrong !== undefined) throw new InvalidItemError(item, wrong);
  const fields = Object.fromEntries(checks.map(([name]) => [name, item[name]]));
  return fields as ReturnType<typeof readFields<Required, Optional>>;
}

/** A whole number that is exact, from 0. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** A text that is not empty, and no longer than a part of a key can be. */
export const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length >= 1 && value.length <= 2048;
