import { isDeepStrictEqual } from "node:util";
import type { Item } from "../../../shared/dynamodb/table-client.ts";

/** The parts of a command's input that its expressions refer to. */
export interface Substitutions {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

type Evaluate<T> = (item: Item, substitutions: Substitutions) => T;
type Comparable = string | number;

/** Whether the condition of a command holds for an item; `{}` means no item. */
export function holds(expression: string | undefined, item: Item, substitutions: Substitutions): boolean {
  return expression === undefined || parseCondition(expression)(item, substitutions);
}

const conditions = new Map<string, Evaluate<boolean>>();

function parseCondition(expression: string): Evaluate<boolean> {
  let condition = conditions.get(expression);
  if (!condition) {
    condition = new ConditionParser(expression).parse();
    conditions.set(expression, condition);
  }
  return condition;
}

const comparisons: Readonly<Record<string, (a: Comparable, b: Comparable) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
};

const functions: Readonly<Record<string, (value: unknown, part: unknown) => boolean>> = {
  attribute_exists: (value) => value !== undefined,
  attribute_not_exists: (value) => value === undefined,
  begins_with: (value, part) => String(value ?? "").startsWith(String(part)),
  contains: (value, part) => String(value ?? "").includes(String(part)),
};

/** Parses comparisons of scalar attributes and the functions on attributes, with NOT, AND, OR and parentheses. */
class ConditionParser {
  readonly #expression: string;
  readonly #tokens: string[];

  constructor(expression: string) {
    this.#expression = expression;
    this.#tokens = expression.match(/[#:]?\w+(?:\.\w+)*|<=?|\S/g) ?? [];
  }

  parse(): Evaluate<boolean> {
    const condition = this.#or();
    if (this.#tokens.length > 0) throw this.#unsupported();
    return condition;
  }

  #or(): Evaluate<boolean> {
    const left = this.#and();
    if (!this.#skip("OR")) return left;
    const right = this.#or();
    return (item, substitutions) => left(item, substitutions) || right(item, substitutions);
  }

  #and(): Evaluate<boolean> {
    const left = this.#term();
    if (!this.#skip("AND")) return left;
    const right = this.#and();
    return (item, substitutions) => left(item, substitutions) && right(item, substitutions);
  }

  #term(): Evaluate<boolean> {
    if (this.#skip("(")) {
      const inner = this.#or();
      this.#expect(")");
      return inner;
    }
    if (this.#skip("NOT")) {
      const inner = this.#term();
      return (item, substitutions) => !inner(item, substitutions);
    }
    const first = this.#next();
    const matches = functions[first];
    if (matches) {
      this.#expect("(");
      const value = operand(this.#next());
      const part = this.#skip(",") ? operand(this.#next()) : undefined;
      this.#expect(")");
      return (item, substitutions) => matches(value(item, substitutions), part?.(item, substitutions));
    }
    const left = operand(first);
    const operator = this.#next();
    const right = operand(this.#next());
    if (operator === "=") return (item, names) => isDeepStrictEqual(left(item, names), right(item, names));
    const compare = comparisons[operator];
    if (!compare) throw this.#unsupported();
    return (item, substitutions) => {
      const [a, b] = [left(item, substitutions), right(item, substitutions)];
      return typeof a === typeof b && a !== undefined && compare(a as Comparable, b as Comparable);
    };
  }

  #next(): string {
    const token = this.#tokens.shift();
    if (token === undefined) throw this.#unsupported();
    return token;
  }

  #skip(token: string): boolean {
    if (this.#tokens[0] !== token) return false;
    this.#tokens.shift();
    return true;
  }

  #expect(token: string): void {
    if (!this.#skip(token)) throw this.#unsupported();
  }

  #unsupported(): Error {
    return unsupported("condition", this.#expression);
  }
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
export function valueFor(token: string, { ExpressionAttributeValues = {} }: Substitutions): unknown {
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
