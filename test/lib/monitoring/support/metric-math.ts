/** The value of a metric in one period; undefined if it has no data. */
export type Datapoint = number | undefined;

type Operand = Datapoint | readonly Datapoint[];

type Operator = (left: number, right: number) => number;

/** Binary operators, from the loosest binding to the tightest. */
const precedence: readonly Readonly<Record<string, Operator>>[] = [
  {
    ">=": (left, right) => Number(left >= right),
    "<=": (left, right) => Number(left <= right),
    ">": (left, right) => Number(left > right),
    "<": (left, right) => Number(left < right),
  },
  { "+": (left, right) => left + right, "-": (left, right) => left - right },
  { "*": (left, right) => left * right, "/": (left, right) => left / right },
];

function toDatapoint(operand: Operand): Datapoint {
  if (typeof operand === "object") throw new Error("An array of metrics where one value is expected.");
  return operand;
}

function sum(operand: Operand): Datapoint {
  if (typeof operand !== "object") throw new Error("SUM takes an array of metrics.");
  return operand.every((value) => value === undefined)
    ? undefined
    : operand.reduce<number>((total, value) => total + (value ?? 0), 0);
}

const fill = (operand: Operand, filler: Datapoint): Operand =>
  typeof operand === "object" ? operand.map((value) => value ?? filler) : (operand ?? filler);

/**
 * The value of a metric math expression in one period, for the functions and operators that the stack uses.
 *
 * @param metrics the values of the metrics by their ids
 * @returns undefined if the expression has no data in the period
 * @throws Error for an unknown metric, function or syntax
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
export function calculate(expression: string, metrics: ReadonlyMap<string, Datapoint>): Datapoint {
  const tokens = expression.match(/\w+(?:\.\d+)?|[<>]=|\S/g) ?? [];
  const hasData = [...metrics.values()].some((value) => value !== undefined);

  function take(expected: string): void {
    const token = tokens.shift();
    if (token !== expected) throw new Error(`Expected ${expected}, found ${token} in ${expression}`);
  }

  /** A missing value counts as 0 beside metrics that have data; a division by zero gives no value. */
  function apply(operator: Operator, left: Operand, right: Operand): Datapoint {
    const [a, b] = [toDatapoint(left), toDatapoint(right)];
    if (!hasData && (a === undefined || b === undefined)) return undefined;
    const value = operator(a ?? 0, b ?? 0);
    return Number.isFinite(value) ? value : undefined;
  }

  function parse(level = 0): Operand {
    const operators = precedence[level];
    if (!operators) return parseOperand();
    let left = parse(level + 1);
    for (let operator = operators[tokens[0] ?? ""]; operator; operator = operators[tokens[0] ?? ""]) {
      tokens.shift();
      left = apply(operator, left, parse(level + 1));
    }
    return left;
  }

  function parseArguments(): Operand[] {
    const values: Operand[] = [];
    take("(");
    while (tokens[0] !== ")") {
      if (values.length > 0) take(",");
      values.push(parse());
    }
    take(")");
    return values;
  }

  function parseOperand(): Operand {
    const token = tokens.shift() ?? "";
    if (/^\d/.test(token)) return Number(token);
    if (tokens[0] === "(") return call(token, parseArguments());
    if (!metrics.has(token)) throw new Error(`${expression} has an unknown metric ${token}`);
    return metrics.get(token);
  }

  function call(name: string, [first, second, third]: readonly Operand[]): Operand {
    if (name === "METRICS") return [...metrics.values()];
    if (name === "SUM") return sum(first);
    if (name === "FILL") return fill(first, toDatapoint(second));
    if (name !== "IF") throw new Error(`${expression} has an unknown function ${name}`);
    const condition = toDatapoint(first);
    if (condition === undefined) return undefined;
    return condition === 0 ? third : (second ?? 0);
  }

  const result = toDatapoint(parse());
  if (tokens.length > 0) throw new Error(`Unexpected ${tokens[0]} in ${expression}`);
  return result;
}
