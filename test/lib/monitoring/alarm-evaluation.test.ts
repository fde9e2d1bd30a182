import { describe, expect, test } from "vitest";
import { evaluateAlarm } from "./support/alarm-evaluation.ts";
import { type Alarm, metricKey, readMetrics } from "./support/alarms.ts";
import { calculate, type Datapoint, type TimeSeries } from "./support/metric-math.ts";

const alarm = (toAlarm: number, treatment: string): Alarm => ({
  AlarmName: "alarm",
  AlarmDescription: "",
  Namespace: "Tests",
  MetricName: "Failures",
  Statistic: "Sum",
  Period: 60,
  ComparisonOperator: "GreaterThanOrEqualToThreshold",
  Threshold: 1,
  DatapointsToAlarm: toAlarm,
  EvaluationPeriods: 3,
  TreatMissingData: treatment,
});

const failures = metricKey("Tests", "Failures", {}, "Sum", 60);

/** Datapoints as the documentation of CloudWatch writes them: 0 is within the threshold, X breaches it, - is missing. */
const parse = (text: string): Datapoint[] => [...text].map((c) => ({ "0": 0, X: 1 })[c]);

describe.each([
  [3, "0-X-X", "OK", "OK", "OK"],
  [3, "0----", "OK", "OK", "OK"],
  [3, "-----", "retain", "ALARM", "OK"],
  [3, "0XX-X", "ALARM", "ALARM", "ALARM"],
  [3, "--X--", "retain", "ALARM", "OK"],
  [3, "----X", "retain", "ALARM", "OK"],
  [3, "X----", "retain", "ALARM", "OK"],
  [2, "0-X-X", "ALARM", "ALARM", "ALARM"],
  [2, "00X0X", "ALARM", "ALARM", "ALARM"],
  [2, "0-X--", "OK", "ALARM", "OK"],
  [2, "----0", "OK", "ALARM", "OK"],
  [2, "----X", "retain", "ALARM", "OK"],
])("%i of 3 datapoints, %s", (toAlarm, text, ignore, breaching, notBreaching) => {
  const evaluate = (treatment: string, datapoints: Datapoint[]) =>
    evaluateAlarm(alarm(toAlarm, treatment), [[failures, ...datapoints]]).at(-1);

  test("has the documented states", () => {
    expect(evaluate("breaching", parse(text))).toBe(breaching);
    expect(evaluate("notBreaching", parse(text))).toBe(notBreaching);
    // Three breaching datapoints before the others raise the alarm.
    expect(evaluate("ignore", parse(`XXX${text}`))).toBe(ignore === "retain" ? "ALARM" : ignore);
    expect(evaluate("ignore", parse(text))).toBe(ignore === "retain" ? "OK" : ignore);
  });
});

test("DynamoDB's metrics always ignore missing data", () => {
  const throttles = { ...alarm(3, "notBreaching"), Namespace: "AWS/DynamoDB" };
  const [metric = ""] = readMetrics(throttles).values();
  expect(evaluateAlarm(throttles, [[metric, ...parse("XXX-----")]]).at(-1)).toBe("ALARM");
});

test("A series of a metric that the alarm does not read is an error", () => {
  const other = metricKey("Tests", "Failures", {}, "Maximum", 60);
  expect(() => evaluateAlarm(alarm(1, "notBreaching"), [[other, 1]])).toThrow(
    "The alarm does not read Tests Failures [] Maximum of 60 s, only Tests Failures [] Sum of 60 s",
  );
});

const no: Datapoint = undefined;

/** The examples of CloudWatch's documentation are the first of each function. */
test.each<[expression: string, a: TimeSeries, b: TimeSeries, values: TimeSeries]>([
  ["(a < b)", [30, 20, 0, 0], [20, no, 20, no], [0, 0, 1, 0]],
  ["(a >= 30)", [30, 20, 0, 0], [20, no, 20, no], [1, 0, 0, 0]],
  ["a > 0", [1, no, 0], [], [1, no, 0]],
  ["IF(a, b, 5)", [1, 1, 0, 0, no], [30, no, 0, 0, 30], [30, 0, 5, 5, no]],
  ["IF(a, 5, b)", [1, 1, 0, 0, no], [0, 0, 20, no, 20], [5, 5, 20, no, no]],
  ["IF(a < 400, a)", [500, 100, no], [], [no, 100, no]],
  ["IF(a > 0, 0, IF(b > 0, 1))", [1, 0, 0, no], [1, 1, 0, 1], [0, 1, no, no]],
  ["a + 2 * b", [1, 1, no, no], [3, no, 3, no], [7, 1, 6, no]],
  ["(a + 2) * b", [1], [3], [9]],
  ["100 * a / b", [1, 1, no], [4, 0, 4], [25, no, 0]],
  ["a - b", [1, no], [no, 1], [1, -1]],
  ["a + 0 * b", [no, 3, no], [7, no, no], [0, 3, no]],
  ["DIFF(a)", [1, 4, 4, 2], [], [no, 3, 0, -2]],
  ["DIFF(a)", [1, no, 4], [], [no, no, 3]],
  ["TIME_SERIES(7)", [no, no], [], [7, 7]],
  ["a + TIME_SERIES(0)", [no, 2, no], [], [0, 2, 0]],
])("%s is, for %j and %j, %j", (expression, a, b, values) => {
  const metrics = new Map([
    ["a", a],
    ["b", b],
  ]);
  expect(calculate(expression, (id) => metrics.get(id), a.length)).toEqual(values);
});

test.each([
  ...["SUM(a)", "b", "a a", "(a", "IF(a", "a ^ 2", "1 + 1", "DIFF(1)", "IF(1, a, a)", "TIME_SERIES(a)"],
])("%s is rejected", (expression) => {
  expect(() => calculate(expression, (id) => (id === "a" ? [1] : undefined), 1)).toThrow();
});
