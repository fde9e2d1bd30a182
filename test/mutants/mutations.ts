import { parseAst } from "vitest/node";

/** A change of a source that a test should notice. */
export interface Mutation {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** A node of the syntax tree (ESTree), with what the operators read of it. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Turns a node into the texts that replace it, or a part of it. */
type Operator = (node: Node, text: (node: Node) => string) => readonly (string | Mutation)[];

/** All mutations of a TypeScript source. They change what it does, not its types or the texts of its own errors. */
export function findMutations(source: string): Mutation[] {
  const text = ({ start, end }: Node) => source.slice(start, end);
  const found: Mutation[] = [];
  const visit = (node: Node): void => {
    if (isSkipped(node)) return;
    for (const change of operators[node.type]?.(node, text) ?? []) {
      const { start, end } = node;
      found.push(typeof change === "string" ? { start, end, replacement: change } : change);
    }
    for (const child of childNodes(node)) visit(child);
  };
  visit(parseAst(source, { lang: "ts" }) as unknown as Node);
  return found;
}

/** The source with a mutation. */
export const applyMutation = (source: string, { start, end, replacement }: Mutation) =>
  source.slice(0, start) + replacement + source.slice(end);

/** Types and imports have no behavior, and the message of an error that no caller sees may change. */
function isSkipped({ type, callee }: Node): boolean {
  if (/^(TSInterface|TSTypeAlias|Import)/.test(type)) return true;
  const name = type === "NewExpression" && String((callee as Node).name);
  return name !== false && name.endsWith("Error") && name !== "ApiError";
}

const typeFields = new Set(["typeAnnotation", "typeParameters", "typeArguments", "returnType"]);

function childNodes(node: Node): Node[] {
  const children = Object.entries(node).flatMap(([field, value]) => (typeFields.has(field) ? [] : value));
  return children.filter((child): child is Node => typeof (child as Node | null)?.type === "string");
}

const swaps: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ "<": "<=", "<=": "<", ">": ">=", ">=": ">", "===": "!==", "!==": "===" },
    ...{ "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "&&": "||", "||": "&&" },
    ...{ max: "min", min: "max", floor: "ceil", ceil: "floor", every: "some", some: "every" },
  }),
);

/** Methods whose call can be left out: the object stays. */
const removable = new Set([
  "filter",
  "slice",
  "sort",
  "toSorted",
  "reverse",
  "toReversed",
  "trim",
  "toLowerCase",
]);

const operators: Readonly<Record<string, Operator>> = {
  BinaryExpression: swapOperator,
  AssignmentExpression: swapOperator,
  LogicalExpression: (node, text) => {
    const left = text(node.left as Node);
    return node.operator === "??"
      ? [left]
      : [`(${left} ${swaps.get(String(node.operator))} ${text(node.right as Node)})`];
  },
  UnaryExpression: ({ operator, argument }, text) => (operator === "!" ? [text(argument as Node)] : []),
  ConditionalExpression: ({ consequent, alternate }, text) =>
    [consequent, alternate].map((branch) => `(${text(branch as Node)})`),
  IfStatement: ({ test }) =>
    ["true", "false"].map((replacement) => ({ ...place(test as Node), replacement })),
  Literal: ({ value, regex, raw }) => {
    if (typeof value === "number") return value <= 10 ? [`${value + 1}`] : [`${value * 2}`, `${value / 2}`];
    if (typeof value === "boolean") return [String(!value)];
    if (typeof value === "string") return value === "" ? [] : ['""'];
    return regex ? withoutAnchors(String(raw)) : [];
  },
  TemplateLiteral: () => ["``"],
  ObjectExpression: ({ properties }) =>
    (properties as Node[]).map((property) => ({ ...place(property), replacement: "...{}" })),
  ArrayExpression: ({ elements }) => ((elements as Node[]).length > 0 ? ["[]"] : []),
  MemberExpression: ({ property }) => {
    const { name } = property as Node;
    const other = swaps.get(String(name));
    return other === undefined ? [] : [{ ...place(property as Node), replacement: other }];
  },
  CallExpression: ({ callee }, text) => {
    const { object, property } = callee as { object?: Node; property?: Node };
    return object && removable.has(String(property?.name)) ? [text(object)] : [];
  },
  ExpressionStatement: ({ directive }) => (directive ? [] : [";"]),
  ThrowStatement: () => [";"],
  ContinueStatement: () => [";"],
};

const place = ({ start, end }: Node) => ({ start, end });

function swapOperator({ operator, left, right }: Node, text: (node: Node) => string): readonly Mutation[] {
  const replacement = swaps.get(String(operator));
  if (replacement === undefined) return [];
  // Parentheses and comments may stand between the operands.
  const { end } = left as Node;
  const start = end + text({ type: "", start: end, end: (right as Node).start }).indexOf(String(operator));
  return [{ start, end: start + String(operator).length, replacement }];
}

const withoutAnchors = (regex: string) =>
  [regex.replace("/^", "/"), regex.replace(/\$(\/[a-z]*)$/, "$1"), regex.replace(/i$/, "")].filter(
    (other) => other !== regex,
  );
