/** The value of a metric in one period; undefined if it has no data. */
export type Datapoint = number | undefined;

/** The values of consecutive periods, oldest first. */
export type TimeSeries = readonly Datapoint[];

type Operand = number | TimeSeries;

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

const valueAt = (operand: Operand | undefined, period: number): Datapoint =>
  typeof operand === "number" ? operand : operand?.[period];

/** A missing value counts as 0 beside a time series that has data; a division by zero gives no value. */
function applyAt(operator: Operator, operands: readonly [Operand, Operand], period: number): Datapoint {
  const series = operands.filter((operand) => typeof operand !== "number");
  if (series.every((values) => values[period] === undefined)) return undefined;
  const [left, right] = operands;
  const value = operator(valueAt(left, period) ?? 0, valueAt(right, period) ?? 0);
  return Number.isFinite(value) ? value : undefined;
}

function toSeries(operand: Operand | undefined, name: string): TimeSeries {
  if (typeof operand !== "object") throw new Error(`${name} takes a time series.`);
  return operand;
}

/** The difference between each value and the one before it. */
function difference(series: TimeSeries): TimeSeries {
  return series.map((value, period) => {
    const before = series.slice(0, period).findLast((candidate) => candidate !== undefined);
    return value === undefined || before === undefined ? undefined : value - before;
  });
}

/** Without a condition in a period, there is no value. A missing value for a condition that holds is 0. */
function choose(condition: TimeSeries, [holds, otherwise]: readonly (Operand | undefined)[]): TimeSeries {
  return condition.map((value, period) => {
    if (value === undefined) return undefined;
    return value === 0 ? valueAt(otherwise, period) : (valueAt(holds, period) ?? 0);
  });
}

/**
 * The values of a metric math expression, for the functions and operators that the stack uses.
 *
 * @param find finds the values of a metric or of another expression by its id
 * @param periods how many values each time series has
 * @throws Error for an unknown id, function or syntax
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
export function calculate(
  expression: string,
  find: (id: string) => TimeSeries | undefined,
  periods: number,
): TimeSeries {
  const tokens = expression.match(/\w+(?:\.\d+)?|[<>]=|\S/g) ?? [];

  function take(expected: string): void {
    const token = tokens.shift();
    if (token !== expected) throw new Error(`Expected ${expected}, found ${token} in ${expression}`);
  }

  function apply(operator: Operator, left: Operand, right: Operand): Operand {
    if (typeof left === "number" && typeof right === "number") return operator(left, right);
    return Array.from({ length: periods }, (_, period) => applyAt(operator, [left, right], period));
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
    if (token === "(") {
      const value = parse();
      take(")");
      return value;
    }
    const series = find(token);
    if (!series) throw new Error(`${expression} has an unknown id ${token}`);
    return series;
  }

  function call(name: string, [first, ...others]: readonly Operand[]): Operand {
    if (name === "IF") return choose(toSeries(first, name), others);
    if (name === "DIFF") return difference(toSeries(first, name));
    if (name !== "TIME_SERIES") throw new Error(`${expression} has an unknown function ${name}`);
    if (typeof first !== "number") throw new Error("TIME_SERIES takes a number.");
    return Array<number>(periods).fill(first);
  }

  const result = toSeries(parse(), "An alarm");
  if (tokens.length > 0) throw new Error(`Unexpected ${tokens[0]} in ${expression}`);
  return result;
}
