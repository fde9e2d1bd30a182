import { type IMetric, MathExpression } from "aws-cdk-lib/aws-cloudwatch";

const byId = (prefix: string, metrics: readonly IMetric[]) =>
  Object.fromEntries(metrics.map((metric, index) => [`${prefix}${index}`, metric]));

const sum = (prefix: string, metrics: readonly IMetric[]) =>
  metrics.map((_, index) => `${prefix}${index}`).join(" + ");

/**
 * The sum of faults, which is 0 only while something happens: without activity it has no data. Metric math treats a
 * missing value as 0 if the other operand has data (docs/assumptions.md#missing-values).
 *
 * @param activity a metric that has data whenever a fault could have happened
 */
export const faultsDuring = (activity: IMetric, faults: readonly IMetric[]) =>
  new MathExpression({
    expression: `${sum("fault", faults)} + 0 * activity`,
    usingMetrics: { ...byId("fault", faults), activity },
  });

/** The sum of metrics, which is 0 without data: in place of a missing value, CloudWatch would evaluate older ones. */
export const always = (prefix: string, metrics: readonly IMetric[]) =>
  new MathExpression({
    expression: `${sum(prefix, metrics)} + TIME_SERIES(0)`,
    usingMetrics: byId(prefix, metrics),
  });

/**
 * The percentage of bad requests, of the kind of requests that has the highest; that of a kind with fewer bad ones than
 * `atLeast` is 0. It has no data without requests.
 */
export function percentage(
  kinds: readonly { readonly bad: readonly IMetric[]; readonly all: IMetric }[],
  atLeast: number,
): MathExpression {
  const parts = kinds.map(({ bad, all }, kind) => {
    const count = sum(`bad${kind}_`, bad);
    return new MathExpression({
      expression: `IF(${count} + 0 * all${kind} >= ${atLeast}, 100 * (${count}) / all${kind}, 0)`,
      usingMetrics: { ...byId(`bad${kind}_`, bad), [`all${kind}`]: all },
    });
  });
  const [first, ...others] = parts;
  if (first && others.length === 0) return first;
  return new MathExpression({
    expression: `MAX([${parts.map((_, kind) => `part${kind}`).join(", ")}])`,
    usingMetrics: byId("part", parts),
  });
}
