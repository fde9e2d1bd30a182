import { isDeepStrictEqual } from "node:util";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { firstIndex, type Row } from "./partitions.ts";
import { validationError } from "./stored-items.ts";

/** The parts of a command's input that its expressions refer to. */
export interface Substitutions {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

type Evaluate<T> = (item: Item, substitutions: Substitutions) => T;

const conditions = new Map<string, Evaluate<boolean>>();

/** Whether the condition of a command holds for an item; `{}` means no item. */
export function holds(expression: string | undefined, item: Item, substitutions: Substitutions): boolean {
  if (expression === undefined) return true;
  const condition = conditions.get(expression) ?? parseCondition(expression);
  conditions.set(expression, condition);
  return condition(item, substitutions);
}

// biome-ignore lint/suspicious/noExplicitAny: TypeScript compares no unknown values.
type Operation = (value: any, other: any) => boolean;

/** The comparisons of scalar attributes and the functions on attributes that conditions may have. */
const operations: Readonly<Record<string, Operation>> = {
  "=": isDeepStrictEqual,
  // Values of different types, and undefined, are not comparable.
  "<": (a, b) => typeof a === typeof b && a < b,
  "<=": (a, b) => typeof a === typeof b && a <= b,
  attribute_exists: (value) => value !== undefined,
  attribute_not_exists: (value) => value === undefined,
  begins_with: (value, part) => String(value ?? "").startsWith(String(part)),
  contains: (value, part) => String(value ?? "").includes(String(part)),
};

const term = /([a-z_]+) ?\(([^(),]+)(?:, ?([^()]+))?\)|([^\s()]+) (=|<=?) ([^\s()]+)/g;

/** Makes a function of each term of a condition, and operators of JavaScript of the words between them. */
function parseCondition(expression: string): Evaluate<boolean> {
  const terms: Evaluate<boolean>[] = [];
  const words = expression.replaceAll(term, (_, name, value, part, left, operator, right) => {
    const operation = operations[name ?? operator];
    if (!operation) throw unsupported("condition", expression);
    const [first, second] = [operand(value ?? left), operand(part ?? right ?? "")];
    terms.push((...on) => operation(first(...on), second(...on)));
    return `@${terms.length - 1}`;
  });
  if (!/^(?:@\d+|AND|OR|NOT|[( )])+$/.test(words)) throw unsupported("condition", expression);
  const code = words.replaceAll("AND", "&&").replaceAll("OR", "||").replaceAll("NOT", "!");
  const evaluate = new Function("term", `return ${code.replaceAll(/@(\d+)/g, "term($1)")}`);
  return (...on) => evaluate((n: number) => terms[n]?.(...on));
}

const keyPattern =
  /^(?<attribute>#?\w+) = (?<partition>:\w+)(?: AND (?:(?:sk|activeAt|awaitingReplySince) (?<operator><|>=) (?<value>:\w+)|(?:sk|activeAt|awaitingReplySince) BETWEEN (?<low>:\w+) AND (?<high>:\w+)|begins_with\(sk, ?(?<prefix>:\w+)\)))?$/;

/**
 * Parses the key condition of a query.
 *
 * @returns a partition with the attribute of its key, and a function that finds the index of the first of its rows that
 * matches, and the index after the last one
 */
export function readKeyCondition(expression: string | undefined, substitutions: Substitutions) {
  const { attribute, operator, ...tokens } = keyPattern.exec(expression ?? "")?.groups ?? {};
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

/** Evaluates a token: a value, an attribute of an item or, after a dot, an attribute of a map in the item. */
export function operand(token: string): Evaluate<unknown> {
  if (token.startsWith(":")) return (_, substitutions) => valueFor(token, substitutions);
  const [attribute = "", ...path] = token.split(".");
  return (item, substitutions) =>
    path.reduce<unknown>((map, name) => Object(map)[name], item[nameOf(attribute, substitutions)]);
}

/** The attribute that a token of an expression names. */
export function nameOf(token: string, { ExpressionAttributeNames = {} }: Substitutions): string {
  if (!token.startsWith("#")) return token;
  const name = ExpressionAttributeNames[token];
  if (name === undefined) throw new Error(`The expression's name ${token} is not defined.`);
  return name;
}

/** The value that a token of an expression stands for. */
function valueFor(token: string, { ExpressionAttributeValues = {} }: Substitutions): unknown {
  const value = ExpressionAttributeValues[token];
  if (value === undefined) throw new Error(`The expression's value ${token} is not defined.`);
  return value;
}

/** Keeps the attributes of a `ProjectionExpression`. */
export function project(expression: string | undefined, substitutions: Substitutions): (item: Item) => Item {
  if (expression === undefined) return (item) => item;
  const names = expression.split(",").map((token) => nameOf(token.trim(), substitutions));
  return (item) => {
    const part: Record<string, unknown> = {};
    for (const name of names) if (item[name] !== undefined) part[name] = item[name];
    return part;
  };
}

export const unsupported = (what: string, expression: unknown) =>
  new Error(`The memory table does not support the ${what} ${JSON.stringify(expression)}.`);
