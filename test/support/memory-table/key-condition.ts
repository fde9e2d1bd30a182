import { nameOf, type Substitutions, unsupported, valueFor } from "./expressions.ts";
import { firstIndex, type Row } from "./partitions.ts";
import { validationError } from "./stored-items.ts";

const pattern =
  /^(?<attribute>#?\w+) = (?<partition>:\w+)(?: AND (?:(?:sk|activeAt|awaitingReplySince) (?<operator><|>=) (?<value>:\w+)|(?:sk|activeAt|awaitingReplySince) BETWEEN (?<low>:\w+) AND (?<high>:\w+)|begins_with\(sk, ?(?<prefix>:\w+)\)))?$/;

/**
 * Parses the key condition of a query.
 *
 * @returns a partition with the attribute of its key, and a function that finds the index of the first of its rows that
 * matches, and the index after the last one
 */
export function readKeyCondition(expression: string | undefined, substitutions: Substitutions) {
  const { attribute, operator, ...tokens } = pattern.exec(expression ?? "")?.groups ?? {};
  if (attribute === undefined) throw unsupported("key condition", expression);
  const text = (name: string) => {
    const token = tokens[name];
    const value = token && valueFor(token, substitutions);
    if (token && (typeof value !== "string" || value === "")) throw validationError("The key is not valid.");
    return value as string | undefined;
  };
  const [low, high, value, prefix] = ["low", "high", "value", "prefix"].map(text);
  if (low && high && low > high) throw unsupported("empty range", [low, high]);
  const from = low ?? prefix ?? (operator === ">=" ? value : "") ?? "";
  const isPast = (sk: string) => {
    if (high) return sk > high;
    if (prefix) return sk > prefix && !sk.startsWith(prefix);
    return operator === "<" && sk >= (value ?? "");
  };
  const bounds = (rows: readonly Row[]) =>
    [firstIndex(rows, ({ sk }) => sk >= from), firstIndex(rows, ({ sk }) => isPast(sk))] as const;
  return { attribute: nameOf(attribute, substitutions), partition: text("partition") ?? "", bounds };
}
