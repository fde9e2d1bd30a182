/** How severe an alarm is, and when it is raised. */
export interface AlarmThreshold {
  /** What wakes somebody harms callers, and no caller can cause it alone. The rest is looked at by day. */
  readonly severity: "wake" | "look";
  /** The lowest value that breaches; for a required metric, the lowest that does not. */
  readonly threshold: number;
  /** How many of the last periods must breach; by default, the last one. */
  readonly periods?: { readonly breaching: number; readonly of: number };
  /** Whether the metric must always have data: missing data breaches. */
  readonly required?: true;
}

/**
 * A fault of one minute is not worth a notification. The periods are of five minutes, because some faults are retried
 * minutes later, and a shorter period between two attempts would look like the end of the fault. Both must breach: a
 * value between them that does not would clear the alarm when its metrics end.
 */
const persistent = { breaching: 2, of: 2 };

/** With few requests, a single failure is a large percentage. */
const mostly = { breaching: 2, of: 3 };

/** The severity and the threshold of each alarm, by its section in the runbook, `docs/operations.md`. */
export const alarmThresholds = {
  // 14.4 times what the objective allows: an hour of it uses up 2 % of what a month may have.
  "server-errors": { severity: "wake", threshold: 1.44, periods: mostly },
  // Three times what the objective allows.
  "slow-answers": { severity: "look", threshold: 3 },
  "error-budget": { severity: "look", threshold: 0.3 },
  // A client that sends a request every three seconds. A person who tries a wrong key does not reach it.
  "forbidden-requests": { severity: "look", threshold: 100 },
  "rate-limiter-open": { severity: "look", threshold: 1, periods: persistent },
  "malformed-items": { severity: "look", threshold: 1 },
  // Days.
  "certificate-expiry": { severity: "look", threshold: 30, required: true },
  // A run can begin a little later than five minutes after the one before.
  canary: { severity: "wake", threshold: 1, periods: { breaching: 2, of: 3 }, required: true },
  "gateway-throttles": { severity: "look", threshold: 1, periods: persistent },
  "function-throttles": { severity: "look", threshold: 1, periods: persistent },
  "concurrency-near-quota": { severity: "look", threshold: 80, periods: persistent },
  "table-read-throttles": { severity: "look", threshold: 1, periods: persistent },
  "table-write-throttles": { severity: "look", threshold: 1, periods: persistent },
  // Milliseconds. Older than a period: one change of this age shows that the fault lasts.
  "stream-age": { severity: "wake", threshold: 300_000 },
  "counting-stopped": { severity: "wake", threshold: 1 },
  "failure-queue": { severity: "look", threshold: 1 },
  "late-writes": { severity: "look", threshold: 1 },
  "counts-damaged": { severity: "look", threshold: 1 },
  // Hours.
  "audit-late": { severity: "look", threshold: 1, required: true },
  "event-pipe-failures": { severity: "wake", threshold: 1, periods: persistent },
  "events-stopped": { severity: "wake", threshold: 1 },
  "event-failure-queue": { severity: "wake", threshold: 1 },
  // Metrics come late.
  "new-version-errors": { severity: "look", threshold: 1, periods: { breaching: 1, of: 3 } },
} as const satisfies Readonly<Record<string, AlarmThreshold>>;

export type AlarmSection = keyof typeof alarmThresholds;
