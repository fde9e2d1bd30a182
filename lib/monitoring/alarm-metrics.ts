import type { Duration } from "aws-cdk-lib";
import { type IMetric, MathExpression } from "aws-cdk-lib/aws-cloudwatch";

const byId = (prefix: string, metrics: readonly IMetric[]) =>
  Object.fromEntries(metrics.map((metric, index) => [`${prefix}${index}`, metric]));

const sum = (prefix: string, metrics: readonly IMetric[]) =>
  metrics.map((_, index) => `${prefix}${index}`).join(" + ");

/**
 * The sum of faults, which is 0 only while something happens: without activity it has no data. Metric math treats a
 * missing value as 0 if the other operand has data.
 *
 * @param activity a metric that has data whenever a fault could have happened
 */
export const faultsDuring = (activity: IMetric, faults: readonly IMetric[], period: Duration) =>
  new MathExpression({
    expression: `${sum("fault", faults)} + 0 * activity`,
    usingMetrics: { ...byId("fault", faults), activity },
    period,
  });
