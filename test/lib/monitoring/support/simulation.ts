import type { Template } from "aws-cdk-lib/assertions";
import { type Alarm, readAlarms, readMetrics } from "./alarms.ts";
import { compile, type Series, type Value } from "./metric-math.ts";

/** The value that each metric reports in each minute, by its text and its statistic; undefined for one without data. */
export type Signals = (metric: string, minute: number) => Value;

/** What a statistic makes of the values of the minutes of a period. */
const combine = (statistic: string, values: readonly number[]): Value => {
  if (values.length === 0) return undefined;
  if (statistic === "Minimum") return Math.min(...values);
  return statistic === "Maximum" ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
};

/** The same values, each computed once: the periods of an alarm overlap. */
function remembered(series: Series): Series {
  const values = new Map<number, Value>();
  return (minute) => {
    if (!values.has(minute)) values.set(minute, series(minute));
    return values.get(minute);
  };
}

/** A metric over the periods that end with each minute: CloudWatch evaluates alarms every minute. */
function window(text: string, signals: Signals): Series {
  const [, metric = "", seconds = ""] = /^(.*) of (\d+) s$/.exec(text) ?? [];
  const statistic = metric.split(" ").at(-1) ?? "";
  const signal = remembered((minute) => signals(metric, minute));
  return remembered((minute) => {
    const minutes = Array.from({ length: Number(seconds) / 60 }, (_, ago) => minute - ago);
    return combine(
      statistic,
      minutes.map(signal).filter((value) => value !== undefined),
    );
  });
}

const periodOf = (alarm: Alarm) =>
  (alarm.Period ?? alarm.Metrics?.find(({ MetricStat }) => MetricStat)?.MetricStat?.Period ?? 0) / 60;

/** The series that an alarm compares with its threshold. */
function watched(alarm: Alarm, signals: Signals): Series {
  const metrics = readMetrics(alarm);
  const named = (id: string): Series => {
    const metric = metrics.get(id);
    if (metric !== undefined) return window(metric, signals);
    const text = alarm.Metrics?.find((each) => each.Id === id)?.Expression;
    if (text === undefined) throw new Error(`The alarm has no metric ${id}.`);
    return compile(text, named, periodOf(alarm));
  };
  return named(alarm.Metrics?.find(({ ReturnData }) => ReturnData)?.Id ?? "metric");
}

/** Whether an alarm is raised in each minute, by CloudWatch's rules for its periods and missing data. */
function evaluate(alarm: Alarm, signals: Signals): (minute: number, before: boolean) => boolean {
  const series = watched(alarm, signals);
  const { Threshold, DatapointsToAlarm: least, EvaluationPeriods, TreatMissingData } = alarm;
  const breaches = (value: number) =>
    alarm.ComparisonOperator === "LessThanThreshold" ? value < Threshold : value >= Threshold;
  return (minute, before) => {
    const values = Array.from({ length: EvaluationPeriods }, (_, ago) =>
      series(minute - ago * periodOf(alarm)),
    );
    const missing = values.filter((value) => value === undefined).length;
    const breaching = values.filter((value) => value !== undefined && breaches(value)).length;
    if (TreatMissingData === "breaching") return breaching + missing >= least;
    if (breaching >= least) return true;
    return TreatMissingData === "ignore" && breaching + missing >= least && before;
  };
}

/** The minute in which each alarm is raised first, of those that are raised up to a minute. */
export function simulate(template: Template, signals: Signals, [from, to]: readonly [number, number]) {
  const alarms = [...readAlarms(template)].map(([name, alarm]) => [name, evaluate(alarm, signals)] as const);
  const raised = new Map<string, boolean>();
  const first = new Map<string, number>();
  for (let minute = from; minute <= to; minute++) {
    for (const [name, isRaised] of alarms) raised.set(name, isRaised(minute, raised.get(name) ?? false));
    for (const [name, isRaised] of raised) if (isRaised && !first.has(name)) first.set(name, minute);
  }
  return first;
}
