import { type Alarm, readMetrics } from "./alarms.ts";
import { calculate, type Datapoint, type TimeSeries } from "./metric-math.ts";

export type State = "OK" | "ALARM";

/** Values of metrics, one per period, oldest first; a metric has no data where its value is undefined. */
export type Series = readonly (readonly [metric: string, ...values: Datapoint[]])[];

const breaches: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

/** The datapoints that the alarm evaluates, by the values of its metrics in the evaluation range. */
function readDatapoints({ Metrics }: Alarm, values: ReadonlyMap<string, TimeSeries>): TimeSeries {
  const periods = Math.max(...[...values.values()].map(({ length }) => length));
  const find = (id: string): TimeSeries | undefined => {
    const expression = Metrics?.find(({ Id }) => Id === id)?.Expression;
    return expression === undefined ? values.get(id) : calculate(expression, find, periods);
  };
  const { Id = "metric" } = Metrics?.find(({ ReturnData = true }) => ReturnData) ?? {};
  return find(Id) ?? [];
}

/** The state by the datapoints of the evaluation range. Missing ones are filled in only if there are too few. */
function evaluate(alarm: Alarm, datapoints: TimeSeries, previous: State): State {
  const { ComparisonOperator, Threshold, DatapointsToAlarm, EvaluationPeriods, TreatMissingData } = alarm;
  const breach = breaches[ComparisonOperator];
  if (!breach) throw new Error(`The operator ${ComparisonOperator} is not supported.`);
  const existing = datapoints.filter((value) => value !== undefined).slice(-EvaluationPeriods);
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
 * @param extraDatapoints how many more datapoints CloudWatch reads than the alarm evaluates. AWS documents that it reads
 *   more, but not how many; its examples have two
 * @throws Error for a series of a metric that the alarm does not read
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function evaluateAlarm(alarm: Alarm, series: Series, extraDatapoints = 2): State[] {
  const metrics = [...readMetrics(alarm).values()];
  const unread = series.find(([metric]) => !metrics.includes(metric));
  if (unread) throw new Error(`The alarm does not read ${unread[0]}, only ${metrics.join(", ")}`);
  return evaluateWindows(alarm, series, 1, (_, [value]) => value, extraDatapoints);
}

const aggregates: Readonly<Record<string, (values: readonly number[]) => number>> = {
  Sum: (values) => values.reduce((sum, value) => sum + value, 0),
  Maximum: (values) => Math.max(...values),
};

/**
 * The states of an alarm after each minute, starting from `OK`: CloudWatch evaluates an alarm every minute, and its
 * periods end then.
 *
 * @param minutes what each metric has in each minute, by its name
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html
 */
export function evaluateEachMinute(
  alarm: Alarm,
  minutes: Readonly<Record<string, TimeSeries>>,
  extraDatapoints = 2,
): State[] {
  const metrics = [...readMetrics(alarm).values()];
  const series = Object.entries(minutes).map(([name, values]): Series[number] => {
    const metric = metrics.find((candidate) => candidate.split(" ")[1] === name);
    if (metric === undefined) throw new Error(`The alarm does not read ${name}, only ${metrics.join(", ")}`);
    return [metric, ...values];
  });
  const [seconds = 0] = metrics.map((metric) => Number(/(\d+) s$/.exec(metric)?.[1]));
  const aggregate = (metric: string, values: TimeSeries) => {
    const existing = values.filter((value) => value !== undefined);
    return existing.length === 0 ? undefined : aggregates[/(\w+) of/.exec(metric)?.[1] ?? ""]?.(existing);
  };
  return evaluateWindows(alarm, series, seconds / 60, aggregate, extraDatapoints);
}

/** The states after each value, by periods that have a number of values and end with that one. */
function evaluateWindows(
  alarm: Alarm,
  series: Series,
  valuesInPeriod: number,
  aggregate: (metric: string, values: TimeSeries) => Datapoint,
  extraDatapoints: number,
): State[] {
  const values = new Map(series.map(([metric, ...rest]) => [metric, rest]));
  const length = Math.max(...[...values.values()].map((each) => each.length));
  const periods = alarm.EvaluationPeriods + extraDatapoints;
  const states: State[] = [];
  for (let end = 1; end <= length; end++) {
    const ranges = [...readMetrics(alarm)].map(([id, metric]): [string, TimeSeries] => [
      id,
      Array.from({ length: periods }, (_, period) => {
        const last = end - (periods - 1 - period) * valuesInPeriod;
        const first = last - valuesInPeriod;
        return aggregate(
          metric,
          Array.from({ length: valuesInPeriod }, (_, value) => values.get(metric)?.[first + value]),
        );
      }),
    ]);
    states.push(evaluate(alarm, readDatapoints(alarm, new Map(ranges)), states.at(-1) ?? "OK"));
  }
  return states;
}
