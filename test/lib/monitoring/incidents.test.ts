import { expect, test } from "vitest";
import type { FunctionName } from "../../../lib/bundling/bundle.ts";
import { alarms } from "../../../lib/monitoring/alarm-definitions.ts";
import { activityIndex, indexes } from "../../../shared/dynamodb/keys.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { synthesize } from "../../support/synthesize.ts";
import { withEveryAlarm } from "./support/alarms.ts";
import type { Value } from "./support/metric-math.ts";
import { type Signals, simulate } from "./support/simulation.ts";

const { template, functions } = await synthesize("prod", withEveryAlarm);

type Fault =
  | "new leads"
  | "leads without a key"
  | "messages"
  | "all requests"
  | "functions"
  | "events"
  | "counting";

/** The part of all requests that callers make of each kind. */
const shares = {
  "list-leads": 0.4,
  "list-conversations": 0.4,
  "lead with a key": 0.05,
  "lead without a key": 0.05,
  "send-message": 0.1,
};

/** What happens in a minute: the calls of each route, those that fail, what is written, and a run of the canary. */
interface Minute {
  readonly calls: Readonly<Record<RouteName, number>>;
  readonly failed: Readonly<Record<RouteName, number>>;
  readonly leads: number;
  readonly messages: number;
  readonly run?: "succeeds" | "fails";
}

/** How many of a kind of request come in a minute, evenly over the hours. */
const arrivals = (perHour: number, minute: number) =>
  Math.floor((perHour * (minute + 1)) / 60) - Math.floor((perHour * minute) / 60);

/**
 * A minute of a stage whose callers make some requests an hour, and whose canary runs every five minutes. A fault begins
 * in the minute 1, just after a run.
 */
function live(perHour: number, fault: Fault, minute: number): Minute {
  const is = (...faults: Fault[]) => minute >= 1 && faults.includes(fault);
  const isRun = minute % 5 === 0;
  const all = is("all requests");
  const keyedFails = all || is("new leads");
  const keylessFails = keyedFails || is("leads without a key");
  const sendFails = all || is("messages");
  const of = (kind: keyof typeof shares) => arrivals(perHour * shares[kind], minute);
  // A run ends with the first request that fails: a lead with a key, its replay, one without, and two messages.
  const ran = (...stages: readonly [boolean, number][]) =>
    isRun ? (stages.find(([holds]) => holds)?.[1] ?? 0) : 0;
  const leadCalls = ran([keyedFails, 1], [true, 3]);
  const messageCalls = ran([keylessFails, 0], [sendFails, 1], [true, 2]);
  const keyed = of("lead with a key");
  const keyless = of("lead without a key");
  const sent = of("send-message");
  return {
    calls: {
      "list-leads": of("list-leads") + Number(isRun),
      "list-conversations": of("list-conversations"),
      "create-lead": keyed + keyless + leadCalls,
      "send-message": sent + messageCalls,
    },
    failed: {
      "list-leads": all ? of("list-leads") + Number(isRun) : 0,
      "list-conversations": all ? of("list-conversations") : 0,
      "create-lead":
        (keyedFails ? keyed : 0) + (keylessFails ? keyless : 0) + ran([keyedFails, 1], [keylessFails, 1]),
      "send-message": sendFails ? sent + messageCalls : 0,
    },
    leads:
      (keyedFails ? 0 : keyed) +
      (keylessFails ? 0 : keyless) +
      ran([keyedFails, 0], [keylessFails, 1], [true, 2]),
    messages: sendFails ? 0 : sent + messageCalls,
    ...(isRun && { run: keylessFails || sendFails ? "fails" : "succeeds" }),
  };
}

/** Metrics of AWS and of the logs, as the stack's alarms name them. */
function signals(perHour: number, fault: Fault): Signals {
  const names = new Map([...functions].map(([id, name]) => [id, name]));
  return (metric, minute) => {
    const { calls, failed, leads, messages, run } = live(perHour, fault, minute);
    const stopped = (what: Fault) => minute >= 1 && fault === what;
    const sum = (numbers: object) => Object.values(numbers).reduce((total, number) => total + number, 0);
    const requests = sum(calls);
    const isUnreachable = stopped("functions");
    if (metric.includes("DaysToExpiry")) return 300;
    if (metric.includes("AuditAge")) return 100;
    if (metric.startsWith("AWS/ApiGateway 5xx")) return isUnreachable ? requests : sum(failed);
    if (metric.startsWith("AWS/ApiGateway Count")) return requests > 0 ? requests : undefined;
    if (isUnreachable) return metric.includes(" Throttles ") ? requests : undefined;
    const written = leads + messages;
    const [, name = "", fn = ""] = /^AWS\/Lambda (\w+) FunctionName (\w+) /.exec(metric) ?? [];
    const caller: FunctionName | undefined = names.get(fn);
    if (name === "Throttles") return 0;
    if (caller === "canary") return run && (name === "Errors" ? Number(run === "fails") : 1);
    if (caller === "maintain-counts") return written > 0 && !stopped("counting") ? written : undefined;
    if (caller === "publish-events") return written > 0 && !stopped("events") ? written : undefined;
    if (caller && caller in calls) {
      const called = calls[caller as RouteName];
      const isFault = name === "Errors" || metric.includes("TC(");
      return called > 0 ? (isFault ? 0 : called) : undefined;
    }
    const [, route = "", event] = /^leads-and-conversations-prod (\S+) Event (.+) Sum$/.exec(metric) ?? [];
    if (event === "request failed") return failed[route as RouteName] || undefined;
    if (event === "request") return { "create-lead": leads, "send-message": messages }[route] || undefined;
    return undefined;
  };
}

/** Faults, with the alarms that they raise and after how many minutes: at ten requests an hour, and at a million. */
const faults: readonly (readonly [fault: Fault, few: string, many: string])[] = [
  [
    "new leads",
    "server-errors-writes 10, canary 10, error-budget 25",
    "server-errors-writes 6, canary 10, error-budget 11",
  ],
  [
    "leads without a key",
    "server-errors-writes 10, canary 10, error-budget 25",
    "server-errors-writes 6, canary 10, error-budget 22",
  ],
  [
    "messages",
    "server-errors-writes 10, canary 10, error-budget 25",
    "server-errors-writes 6, canary 10, error-budget 11",
  ],
  [
    "all requests",
    "server-errors-lists 10, server-errors-writes 10, canary 10, error-budget 14",
    "error-budget 2, server-errors-lists 6, server-errors-writes 6, canary 10",
  ],
  [
    "functions",
    "error-budget 5, canary 10, function-throttles 10, background-throttles 10",
    "error-budget 2, function-throttles 6, background-throttles 6, canary 10",
  ],
  ["events", "events-late 10", "events-late 10"],
  ["counting", "counting-late 10", "counting-late 10"],
];

const severityOf = (alarm: string) => alarms.find(({ name }) => name === alarm.split(" ")[0])?.severity;

/** Which alarms of a fault are raised within two hours. */
const raised = (perHour: number, fault: Fault) =>
  [...simulate(template, signals(perHour, fault), [-180, 120])]
    .map(([name, minute]) => `${name} ${minute}`)
    .join(", ");

test.each(
  faults,
)("A fault of %s pages somebody by these alarms after so many minutes", (fault, few, many) => {
  expect([raised(10, fault), raised(1_000_000, fault)]).toEqual([few, many]);
  for (const text of [few, many])
    expect(text.split(", ").filter((alarm) => severityOf(alarm) === "page")).not.toEqual([]);
});

test.each([10, 1_000_000])("Without a fault, no alarm is raised at %s requests an hour", (perHour) => {
  const none = "nothing" as Fault;
  expect(simulate(template, signals(perHour, none), [-180, 120])).toEqual(new Map());
});

const lines = (event: string, ...names: readonly string[]) =>
  names.map((name) => new RegExp(` ${name} Event ${event} Sum$`));

const throttles = (kind: "Read" | "Write") =>
  ["TableName", ...Object.keys(indexes), activityIndex.name].map(
    (name) => new RegExp(`${kind}ThrottleEvents (GlobalSecondaryIndexName )?${name} |Consumed${kind}`),
  );

const isOfApi = (name: FunctionName) => name === "authorize" || name in routes;

const throttlesOf = (isMeant: (name: FunctionName) => boolean) =>
  [...functions].flatMap(([id, name]) =>
    isMeant(name) ? [new RegExp(` Throttles FunctionName ${id} `)] : [],
  );

/** Metrics that say a value in each minute, while nothing else is wrong: each raises the alarm after so many minutes. */
const symptoms: readonly (readonly [alarm: string, value: Value, metrics: readonly RegExp[]])[] = [
  ["server-errors-authorize 6", 1, [/^AWS.Lambda (Errors|Invocations) FunctionName authorize/]],
  ["slow-answers 1", 5, [/ FunctionName listleads\w+ TC\(1000:30000\)$/]],
  ["forbidden-requests 5", 20, [/ ForbiddenRequests /]],
  ["rate-limiter-open 6", 1, lines("rate limiter failed open", ...Object.keys(routes))],
  ["invalid-items 1", 1, lines("invalid item", ...functions.values())],
  ["certificate-expiry 1", 29, [/ DaysToExpiry /]],
  ["gateway-throttles 6", 1, [/ ThrottledRequests /]],
  ["function-throttles 6", 800, [/^AWS.Usage ResourceCount .* Maximum$/]],
  ["function-throttles 6", 1, throttlesOf((name) => isOfApi(name))],
  ["background-throttles 6", 1, throttlesOf((name) => !isOfApi(name))],
  ["table-read-throttles 6", 1, throttles("Read")],
  ["table-write-throttles 6", 1, throttles("Write")],
  ["counting-late 1", 300_000, [/ FunctionName maintaincounts\w+ Maximum$/]],
  ["counts-wrong 1", 1, [/ QueueName Counting.* Maximum$/]],
  ["counts-wrong 1", 1, lines("late writes", "maintain-counts")],
  ["counts-wrong 1", 1, lines("counts given up", "maintain-counts", "audit-counts")],
  ["counts-wrong 1", 1, lines("counts repaired", "audit-counts")],
  [
    "counts-wrong 1",
    1,
    lines("counts damaged", "maintain-counts", "audit-counts", "list-leads", "list-conversations"),
  ],
  ["audit-late 1", 336, [/ AuditAge Maximum$/]],
  ["audit-late 360", undefined, [/ AuditAge Maximum$/]],
  ["events-late 1", 1, [/ QueueName Events.* Maximum$/]],
  ["events-late 1", 300_000, [/ FunctionName publishevents\w+ Maximum$/]],
  [
    "new-version-errors 1",
    1,
    [...functions]
      .filter(([, name]) => !["canary", "audit-counts"].includes(name))
      .map(([id]) => new RegExp(` Errors ExecutedVersion .* FunctionName ${id} `)),
  ],
];

test.each(
  symptoms.flatMap(([alarm, value, metrics]) => metrics.map((metric) => [metric, value, alarm] as const)),
)("%s of %s alone raises %s", (pattern, value, alarm) => {
  const healthy = signals(10, "nothing" as Fault);
  const raised = simulate(
    template,
    (metric, minute) => (minute >= 1 && pattern.test(metric) ? value : healthy(metric, minute)),
    [-15, value === undefined ? 400 : 15],
  );
  expect([...raised].map(([name, minute]) => `${name} ${minute}`)).toEqual([alarm]);
});
