/** A value of a metric or an expression at a minute; undefined without data. */
export type Value = number | undefined;

export type Series = (minute: number) => Value;

const arithmetic: Readonly<Record<string, (left: number, right: number) => Value>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => (right === 0 ? undefined : left / right),
  ">": (left, right) => Number(left > right),
  ">=": (left, right) => Number(left >= right),
};

/** From the weakest binding to the strongest. */
const levels = [
  [">=", ">"],
  ["+", "-"],
  ["*", "/"],
];

/**
 * An expression of CloudWatch's metric math as a function of time, in the forms that the stack uses. A missing value is 0
 * if the other operand has data.
 *
 * @param named the metrics and expressions by their ids
 * @param period in minutes
 */
export function compile(text: string, named: (id: string) => Series, period: number): Series {
  const tokens = text.match(/[A-Za-z_]\w*|[\d.]+|>=|[-+*/>(),[\]]/g) ?? [];
  // A number is no series: it gives a missing value no data.
  const numbers = new Set<Series>();
  const take = (token: string) => tokens[0] === token && tokens.shift() !== undefined;
  const expect = (token: string) => {
    if (!take(token)) throw new Error(`${token} is missing before ${tokens.join(" ")} in ${text}.`);
  };

  function binary(level: number): Series {
    const operators = levels[level];
    if (!operators) return operand();
    let left = binary(level + 1);
    for (let operator = operators.find(take); operator; operator = operators.find(take)) {
      const [first, second, apply] = [left, binary(level + 1), arithmetic[operator]];
      left = (minute) => {
        const [a, b] = [first(minute), second(minute)];
        const hasData = [first, second].some((each) => !numbers.has(each) && each(minute) !== undefined);
        return hasData ? apply?.(a ?? 0, b ?? 0) : undefined;
      };
    }
    return left;
  }

  function operand(): Series {
    const token = tokens.shift() ?? "";
    if (token === "(") {
      const inner = binary(0);
      expect(")");
      return inner;
    }
    if (/^\d/.test(token)) {
      const number = () => Number(token);
      numbers.add(number);
      return number;
    }
    if (!take("(")) return named(token);
    const isList = take("[");
    const operands = [binary(0)];
    while (take(",")) operands.push(binary(0));
    if (isList) expect("]");
    expect(")");
    return call(token, operands);
  }

  function call(name: string, operands: Series[]): Series {
    const [first, second, third] = operands;
    const at = (series: Series | undefined, minute: number) => series?.(minute);
    const difference = (now: Value, before: Value) =>
      now === undefined || before === undefined ? undefined : now - before;
    switch (name) {
      case "TIME_SERIES":
        return (minute) => at(first, minute);
      case "SERVICE_QUOTA":
        // The default of Lambda's concurrent executions.
        return () => 1000;
      case "MAX":
        return (minute) => {
          const values = operands.map((series) => series(minute)).filter((value) => value !== undefined);
          return values.length > 0 ? Math.max(...values) : undefined;
        };
      case "DIFF":
        return (minute) => difference(at(first, minute), at(first, minute - period));
      case "IF":
        return (minute) => {
          const condition = at(first, minute);
          return condition === undefined ? undefined : at(condition ? second : third, minute);
        };
      default:
        throw new Error(`The function ${name} is not supported.`);
    }
  }

  const result = binary(0);
  if (tokens.length > 0) throw new Error(`${tokens.join(" ")} is left of ${text}.`);
  return result;
}
