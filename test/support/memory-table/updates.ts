import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { nameOf, operand, type Substitutions, unsupported } from "./expressions.ts";

/** One action of an update expression, with tokens for its attribute and its value. */
interface Action {
  readonly attribute: string;
  readonly value: string;
  readonly how: "set" | "set if missing" | "add" | "remove";
}

/** The item after an update; `expression` may have the clauses SET, ADD and REMOVE. */
export function updateItem(expression: string | undefined, item: Item, substitutions: Substitutions): Item {
  const updated: Record<string, unknown> = { ...item };
  for (const { attribute, value, how } of parseUpdate(expression ?? "")) {
    const name = nameOf(attribute, substitutions);
    if (how === "remove") {
      delete updated[name];
      continue;
    }
    const operandValue = operand(value)(item, substitutions);
    if (how === "add") updated[name] = Number(item[name] ?? 0) + Number(operandValue);
    else if (how === "set" || item[name] === undefined) updated[name] = operandValue;
  }
  return updated;
}

/** The attributes that an update changes. */
export const updatedNames = (expression: string | undefined, substitutions: Substitutions) =>
  parseUpdate(expression ?? "").map(({ attribute }) => nameOf(attribute, substitutions));

const parsed = new Map<string, readonly Action[]>();

function parseUpdate(expression: string): readonly Action[] {
  let actions = parsed.get(expression);
  if (!actions) {
    const clauses = expression.split(/\b(?=(?:SET|ADD|REMOVE|DELETE) )/).filter((clause) => clause !== "");
    actions = clauses.flatMap(parseClause);
    parsed.set(expression, actions);
  }
  return actions;
}

function parseClause(clause: string): Action[] {
  const [, keyword, list = ""] = /^(SET|ADD|REMOVE) (.*?) *$/.exec(clause) ?? [];
  // A comma inside parentheses does not separate actions.
  return list.split(/,(?![^(]*\))/).map((text) => {
    if (keyword === "REMOVE") return { attribute: text.trim(), value: "", how: "remove" };
    const pattern =
      keyword === "ADD"
        ? /^(?<attribute>#?\w+) (?<value>:\w+)$/
        : /^(?<attribute>#?\w+) = (?<missing>if_not_exists\(\k<attribute>, ?)?(?<value>:\w+)\)?$/;
    const { attribute, value, missing } = pattern.exec(text.trim())?.groups ?? {};
    if (!keyword || !attribute || !value) throw unsupported("update", clause);
    return { attribute, value, how: keyword === "ADD" ? "add" : missing ? "set if missing" : "set" };
  });
}
