import { type Alarm, readMetrics } from "./alarms.ts";
import { calculate, type Datapoint } from "./metric-math.ts";

export type State = "OK" | "ALARM";

/** Values of metrics, one per period, oldest first; a metric has no data where its value is undefined. */
export type Series = readonly (readonly [metric: string, ...values: Datapoint[]])[];

/** CloudWatch reads more datapoints than an alarm evaluates. Its documentation has examples with two more. */
const extraDatapoints = 2;

const breaches: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

/** The value that the alarm evaluates in one period. */
function toDatapoint(alarm: Alarm, values: ReadonlyMap<string, Datapoint>): Datapoint {
  const expression = alarm.Metrics?.find(({ Expression }) => Expression !== undefined)?.Expression;
  return expression === undefined ? values.get("metric") : calculate(expression, values);
}

/** The state after a period, by the datapoints up to it. Missing ones are filled in only if there are too few. */
function evaluate(alarm: Alarm, datapoints: readonly Datapoint[], previous: State): State {
  const { ComparisonOperator, Threshold, DatapointsToAlarm, EvaluationPeriods, TreatMissingData } = alarm;
  const breach = breaches[ComparisonOperator];
  if (!breach) throw new Error(`The operator ${ComparisonOperator} is not supported.`);
  const existing = datapoints
    .slice(-EvaluationPeriods - extraDatapoints)
    .filter((value) => value !== undefined)
    .slice(-EvaluationPeriods);
  const breaching = existing.filter((value) => breach(value, Threshold)).length;
  const missing = EvaluationPeriods - existing.length;
  // For metrics of DynamoDB, CloudWatch always ignores missing data.
  const treatment = [...readMetrics(alarm).values()].some((metric) => metric.startsWith("AWS/DynamoDB "))
    ? "ignore"
    : TreatMissingData;
  if (breaching >= DatapointsToAlarm) return "ALARM";
  if (treatment === "breaching") return breaching + missing >= DatapointsToAlarm ? "ALARM" : "OK";
  if (treatment === "ignore") return breaching === existing.length && missing > 0 ? previous : "OK";
  if (treatment !== "notBreaching") throw new Error(`Missing data cannot be treated as ${treatment}.`);
  return "OK";
}

/**
 * The states of an alarm after each period, starting from `OK`.
 *
 * @throws Error for a series of a metric that the alarm does not read
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
 */
export function evaluateAlarm(alarm: Alarm, series: Series): State[] {
  const metrics = readMetrics(alarm);
  const unread = series.find(([metric]) => ![...metrics.values()].includes(metric));
  if (unread)
    throw new Error(`The alarm does not read ${unread[0]}, only ${[...metrics.values()].join(", ")}`);
  const values = new Map(series.map(([metric, ...rest]) => [metric, rest]));
  const periods = Math.max(...[...values.values()].map(({ length }) => length));
  const datapoints: Datapoint[] = [];
  const states: State[] = [];
  for (let period = 0; period < periods; period++) {
    const current = new Map([...metrics].map(([id, metric]) => [id, values.get(metric)?.[period]]));
    datapoints.push(toDatapoint(alarm, current));
    states.push(evaluate(alarm, datapoints, states.at(-1) ?? "OK"));
  }
  return states;
}
