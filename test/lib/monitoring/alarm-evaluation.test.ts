import { describe, expect, test } from "vitest";
import { evaluateAlarm } from "./support/alarm-evaluation.ts";
import { type Alarm, metricKey, readMetrics } from "./support/alarms.ts";
import { calculate, type Datapoint } from "./support/metric-math.ts";

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

test.each<[expression: string, a: Datapoint, b: Datapoint, value: Datapoint]>([
  ["a + 2 * b", 1, 3, 7],
  ["100 * a / b", 1, 4, 25],
  ["a / b", 1, 0, undefined],
  ["a - b", 1, undefined, 1],
  ["a - b", undefined, undefined, undefined],
  ["a >= 30", 30, 0, 1],
  ["a < b", 30, 20, 0],
  ["IF(a, b, 5)", 1, 30, 30],
  ["IF(a, b, 5)", 1, undefined, 0],
  ["IF(a, b, 5)", 0, 30, 5],
  ["IF(a, b, 5)", undefined, 30, undefined],
  ["SUM(METRICS())", 1, undefined, 1],
  ["SUM(METRICS())", undefined, undefined, undefined],
  ["SUM(FILL(METRICS(), 0))", undefined, undefined, 0],
  ["FILL(a, 10)", undefined, 1, 10],
])("%s is, for %s and %s, %s", (expression, a, b, value) => {
  const metrics = new Map([
    ["a", a],
    ["b", b],
  ]);
  expect(calculate(expression, metrics)).toBe(value);
});

test.each(["SUM(a)", "METRICS()", "AVG(a)", "b", "a a", "IF(a", "a ^ 2"])("%s is rejected", (expression) => {
  expect(() => calculate(expression, new Map([["a", 1]]))).toThrow();
});
