import { describe, expect, test } from "vitest";
import { synthesize } from "../../support/synthesize.ts";
import { evaluateEachMinute } from "./support/alarm-evaluation.ts";
import { readAlarms } from "./support/alarms.ts";
import type { Datapoint, TimeSeries } from "./support/metric-math.ts";

const { template } = await synthesize("prod", {});
const alarms = readAlarms(template);

const no: Datapoint = undefined;

/** The values of an hour. */
const minutes = (value: (minute: number) => Datapoint): TimeSeries =>
  Array.from({ length: 60 }, (_, minute) => value(minute));

const always = (value: number) => minutes(() => value);

/** A value in each minute in which an attempt starts, every so many seconds; another one in all others. */
const attempts = (seconds: number, value: number, otherwise?: number) =>
  minutes((minute) => {
    const next = Math.ceil((minute * 60) / seconds) * seconds;
    return next < (minute + 1) * 60 ? value : otherwise;
  });

const onlyIn = (first: number, last: number, value: number) =>
  minutes((minute) => (minute >= first && minute <= last ? value : no));

const evaluate = (name: string, series: Readonly<Record<string, TimeSeries>>) => {
  const alarm = alarms.get(name);
  if (!alarm) throw new Error(`The stack has no alarm ${name}.`);
  return [1, 2, 5, 10].map((extraDatapoints) => evaluateEachMinute(alarm, series, extraDatapoints));
};

const tenMinutes = 600_000;

type Cases = [alarm: string, fault: string, series: Readonly<Record<string, TimeSeries>>][];

describe("A fault that lasts is raised within ten minutes and not cleared, however seldom it is retried", () => {
  const cases: Cases = [];
  for (const seconds of [60, 65, 120, 180, 295]) {
    cases.push(
      [
        "stream-age",
        `an attempt every ${seconds} s beside polls`,
        { PolledEventCount: always(0), IteratorAge: attempts(seconds, tenMinutes) },
      ],
      [
        "stream-age",
        `an attempt every ${seconds} s beside a shard that is counted`,
        { PolledEventCount: always(30), IteratorAge: attempts(seconds, tenMinutes, 500) },
      ],
      [
        "event-pipe-failures",
        `an attempt every ${seconds} s beside events that are published`,
        { EventCount: always(30), ExecutionFailed: attempts(seconds, 1) },
      ],
      [
        "event-pipe-failures",
        `an attempt every ${seconds} s and nothing else`,
        { EventCount: attempts(seconds, 1), ExecutionTimeout: attempts(seconds, 1) },
      ],
      [
        "function-throttles",
        `an attempt every ${seconds} s beside requests`,
        { Count: always(100), Throttles: attempts(seconds, 1, 0) },
      ],
      [
        "gateway-throttles",
        `a client that exceeds the throttle every ${seconds} s`,
        { ThrottledRequests: attempts(seconds, 50, 0) },
      ],
      ["rate-limiter-open", `a request every ${seconds} s`, { RateLimitFailures: attempts(seconds, 1) }],
      [
        "table-write-throttles",
        `an attempt every ${seconds} s beside other writes`,
        { ConsumedWriteCapacityUnits: always(100), WriteThrottleEvents: attempts(seconds, 1) },
      ],
      [
        "table-read-throttles",
        `an attempt every ${seconds} s beside other reads`,
        { ConsumedReadCapacityUnits: always(100), ReadThrottleEvents: attempts(seconds, 1) },
      ],
    );
  }

  test.each(cases)("%s: %s", (name, _, series) => {
    for (const states of evaluate(name, series)) {
      const raised = states.indexOf("ALARM");
      expect(raised).toBeGreaterThanOrEqual(0);
      expect(raised).toBeLessThan(10);
      expect(states.slice(raised)).not.toContain("OK");
    }
  });
});

test.each<Cases[number]>([
  [
    "event-pipe-failures",
    "failures beside events",
    { EventCount: always(30), ExecutionFailed: onlyIn(20, 20, 9) },
  ],
  ["function-throttles", "throttles beside requests", { Count: always(9), Throttles: onlyIn(20, 20, 9) }],
  ["gateway-throttles", "429 responses", { ThrottledRequests: minutes((m) => (m === 20 ? 900 : 0)) }],
  ["rate-limiter-open", "timeouts", { RateLimitFailures: minutes((m) => (m === 20 ? 9 : 0)) }],
])("%s is not raised by %s of one minute", (name, _, series) => {
  for (const states of evaluate(name, series)) expect(states).not.toContain("ALARM");
});

test.each([
  "failure-queue",
  "event-failure-queue",
])("%s stays raised while an operator receives the messages, which hides them for 30 seconds", (name) => {
  const visible = minutes((minute) => (minute < 10 || minute === 30 ? 0 : 3));
  for (const states of evaluate(name, { ApproximateNumberOfMessagesVisible: visible })) {
    expect(states.slice(10)).not.toContain("OK");
  }
});

test("A canary that stops running is noticed after ten minutes", () => {
  const stops = 20;
  const every5 = (value: number) => minutes((minute) => (minute < stops && minute % 5 === 0 ? value : no));
  for (const states of evaluate("canary", { Invocations: every5(1), Errors: every5(0) })) {
    const raised = states.indexOf("ALARM", 10);
    expect(states.slice(10, stops)).not.toContain("ALARM");
    // The last run was in minute 15.
    expect(raised).toBeGreaterThanOrEqual(stops);
    expect(raised).toBeLessThanOrEqual(15 + 10);
    expect(states.slice(raised)).not.toContain("OK");
  }
});
