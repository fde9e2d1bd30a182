import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { nameOf, operand, type Substitutions, unsupported } from "./expressions.ts";

/** One action of an update expression, with tokens for its attribute and, unless it removes, its value. */
interface Action {
  readonly clause: string;
  readonly attribute: string;
  readonly onlyIfMissing: boolean;
  readonly value?: string;
}

/** The item after an update; `expression` may have the clauses SET, ADD and REMOVE. */
export function updateItem(expression: string | undefined, item: Item, substitutions: Substitutions): Item {
  const updated: Record<string, unknown> = { ...item };
  for (const { clause, attribute, onlyIfMissing, value } of parseUpdate(expression ?? "")) {
    const name = nameOf(attribute, substitutions);
    const operandValue = value && operand(value)(item, substitutions);
    if (clause === "REMOVE") delete updated[name];
    else if (clause === "ADD") updated[name] = Number(item[name] ?? 0) + Number(operandValue);
    else if (!onlyIfMissing || item[name] === undefined) updated[name] = operandValue;
  }
  return updated;
}

/** The attributes that an update changes. */
export const updatedNames = (expression: string | undefined, substitutions: Substitutions) =>
  parseUpdate(expression ?? "").map(({ attribute }) => nameOf(attribute, substitutions));

const action = /(?:(SET|ADD|REMOVE) |, ?)(#?\w+)(?: (?:= )?(if_not_exists\(#?\w+, ?)?(:\w+)\)?)? */g;

function parseUpdate(expression: string): readonly Action[] {
  const actions: Action[] = [];
  let clause = "";
  const rest = expression.replaceAll(action, (_, keyword = clause, attribute, missing, value) => {
    clause = keyword;
    actions.push({ clause, attribute, onlyIfMissing: missing !== undefined, value });
    return "";
  });
  if (rest !== "" || actions.some(({ clause, value }) => (clause === "REMOVE") === (value !== undefined)))
    throw unsupported("update", expression);
  return actions;
}
