import { nameOf, type Substitutions, unsupported, valueFor } from "./expressions.ts";
import { firstIndex, type Row } from "./partitions.ts";
import { validationError } from "./stored-items.ts";

/** A partition, and how to find the part of its rows that a key condition matches. */
interface KeyCondition {
  /** The attribute of the partition key. */
  readonly attribute: string;
  readonly partition: string;
  /** The index of the first row that matches, and the index after the last row that matches. */
  readonly bounds: (rows: readonly Row[]) => readonly [number, number];
}

const pattern =
  /^(?<attribute>#?\w+) = (?<partition>:\w+)(?: AND (?:(?:sk|activeAt|awaitingReplySince) (?<operator><|>=) (?<value>:\w+)|(?:sk|activeAt|awaitingReplySince) BETWEEN (?<low>:\w+) AND (?<high>:\w+)|begins_with\(sk, ?(?<prefix>:\w+)\)))?$/;

/** Parses the key condition of a query. */
export function readKeyCondition(expression: string | undefined, substitutions: Substitutions): KeyCondition {
  const { attribute, partition, operator, value, low, high, prefix } =
    pattern.exec(expression ?? "")?.groups ?? {};
  if (attribute === undefined || partition === undefined) throw unsupported("key condition", expression);
  const text = (token: string) => {
    const value = valueFor(token, substitutions);
    if (typeof value !== "string" || value === "") throw validationError("The key is not valid.");
    return value;
  };
  const condition = {
    attribute: nameOf(attribute, substitutions),
    partition: text(partition),
  };
  if (prefix !== undefined) {
    const start = text(prefix);
    return { ...condition, bounds: (rows) => [at(rows, start), past(rows, start, true)] };
  }
  if (low !== undefined && high !== undefined) {
    const [from, to] = [text(low), text(high)];
    if (from > to) throw unsupported("empty range", [from, to]);
    return { ...condition, bounds: (rows) => [at(rows, from), past(rows, to)] };
  }
  if (value === undefined) return { ...condition, bounds: (rows) => [0, rows.length] };
  const bound = text(value);
  return {
    ...condition,
    bounds: (rows) => (operator === "<" ? [0, at(rows, bound)] : [at(rows, bound), rows.length]),
  };
}

const at = (rows: readonly Row[], bound: string) => firstIndex(rows, ({ sk }) => sk >= bound);

/** The index of the first row after a sort key, or after all sort keys that begin with it. */
const past = (rows: readonly Row[], bound: string, prefix = false) =>
  firstIndex(rows, ({ sk }) => sk > bound && !(prefix && sk.startsWith(bound)));
