import { type IMetric, MathExpression } from "aws-cdk-lib/aws-cloudwatch";

const byId = (prefix: string, metrics: readonly IMetric[]) =>
  Object.fromEntries(metrics.map((metric, index) => [`${prefix}${index}`, metric]));

const sum = (prefix: string, metrics: readonly IMetric[]) =>
  metrics.map((_, index) => `${prefix}${index}`).join(" + ");

/**
 * The sum of faults. It is 0 while there is activity without faults, and has no data without activity. Metric math treats a
 * missing value as 0 if the other operand has data (docs/assumptions.md#missing-values).
 *
 * @param activity a metric that has data whenever a fault could have happened
 */
export const faultsDuring = (activity: IMetric, faults: readonly IMetric[]) =>
  new MathExpression({
    expression: `${sum("fault", faults)} + 0 * activity`,
    usingMetrics: { ...byId("fault", faults), activity },
  });

/** The sum of metrics, which is 0 without data. In place of a missing value, CloudWatch would evaluate older values. */
export const always = (prefix: string, metrics: readonly IMetric[]) =>
  new MathExpression({
    expression: `${sum(prefix, metrics)} + TIME_SERIES(0)`,
    usingMetrics: byId(prefix, metrics),
  });

/**
 * The highest percentage of bad requests among several kinds of requests. A kind with fewer than `atLeast` bad requests has
 * 0 %. Without requests, there is no data.
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
