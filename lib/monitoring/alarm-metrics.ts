import { Duration } from "aws-cdk-lib";
import { type IMetric, MathExpression, Stats } from "aws-cdk-lib/aws-cloudwatch";

/** Options of metrics. */
export const total = { statistic: Stats.SUM };
export const minute = { period: Duration.minutes(1) };
export const fiveMinutes = { period: Duration.minutes(5) };

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

/** The sum of metrics, which is 0 without data: in place of a missing value, CloudWatch would evaluate older ones. */
export const always = (prefix: string, metrics: readonly IMetric[], period: Duration) =>
  new MathExpression({
    expression: `${sum(prefix, metrics)} + TIME_SERIES(0)`,
    usingMetrics: byId(prefix, metrics),
    period,
  });

/** The percentage of bad requests, which is 0 if they are fewer than `atLeast`. It has no data without requests. */
export function percentage(bad: readonly IMetric[], all: IMetric, atLeast: number, period: Duration) {
  const count = sum("bad", bad);
  return new MathExpression({
    expression: `IF(${count} + 0 * all >= ${atLeast}, 100 * (${count}) / all, 0)`,
    usingMetrics: { ...byId("bad", bad), all },
    label: "Percentage of bad requests",
    period,
  });
}

/** Counts of the work that callers gave, and of signs that it was done. */
interface Work {
  readonly given: readonly IMetric[];
  /** Each of them must be there. */
  readonly signs: readonly IMetric[];
}

/**
 * 1 if there was work in the period before and no sign of it in that period and this one, because the work takes time
 * and metrics come late. 0 if there is each sign. No data without work and signs, when nothing shows whether work would
 * be done.
 *
 * `TIME_SERIES(0)` gives a metric a value in every period, even if it has no data at all. `x - DIFF(x)` is then the value
 * of the period before. CloudWatch may read few periods before the last one, so no value depends on more than one.
 */
export function undone({ given, signs }: Work, period: Duration): MathExpression {
  const done = signs.map((sign, index) => always(`sign${index}_`, [sign], period));
  const inTwoPeriods = done.map((_, index) => `(2 * done${index} - DIFF(done${index}))`).join(" * ");
  return new MathExpression({
    expression: `IF(${inTwoPeriods} > 0, 0, IF(work - DIFF(work) > 0, 1))`,
    usingMetrics: { ...byId("done", done), work: always("given", given, period) },
    period,
  });
}
