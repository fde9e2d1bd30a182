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

interface Requests {
  readonly bad: readonly IMetric[];
  readonly all: IMetric;
}

/**
 * The percentage of bad requests, of the kind of requests that has the highest; that of a kind with fewer bad ones than
 * `atLeast` is 0. It has no data without requests.
 */
export function percentage(kinds: readonly Requests[], atLeast: number): MathExpression {
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

interface Work {
  /** Counts of the work that callers gave. */
  readonly given: readonly IMetric[];
  /** A count that shows that it was done. */
  readonly sign: IMetric;
  /** What is above 0 only if work stays undone, whatever the sign shows. */
  readonly faults: readonly IMetric[];
}

/**
 * 1 if there is a fault, or if there was work in the period before and no sign of it in that period and this one, because
 * the work takes time and metrics come late. 0 if there is a sign. No data without work and signs, when nothing shows
 * whether work would be done.
 *
 * `TIME_SERIES(0)` gives a metric a value in every period, even if it has no data at all. `x - DIFF(x)` is then the value
 * of the period before. CloudWatch may read few periods before the last one, so no value depends on more than one.
 */
export const undone = ({ given, sign, faults }: Work) =>
  new MathExpression({
    expression: "IF(faults > 0, 1, IF(2 * done - DIFF(done) > 0, 0, IF(work - DIFF(work) > 0, 1)))",
    usingMetrics: {
      done: always("sign", [sign]),
      work: always("given", given),
      faults: always("fault", faults),
    },
  });
