import { Duration } from "aws-cdk-lib";
import type { IMetric } from "aws-cdk-lib/aws-cloudwatch";

/** What an alarm monitors and when it is raised. */
export interface AlarmDefinition {
  /** Whether it wakes somebody: callers are harmed, and no caller can cause it alone. Others are looked at by day. */
  readonly wakes?: true;
  /** One sentence: the fault and whom it affects. */
  readonly meaning: string;
  readonly metric: IMetric;
  /** The lowest value that breaches; for a required metric, the lowest that does not. */
  readonly threshold: number;
  /** Whether it ends a gradual deployment, which then returns to the previous version. */
  readonly rollsBack?: true;
  /** Whether the metric must always have data: missing data breaches. */
  readonly required?: true;
  /** How many of the last periods must breach; by default, the last one. */
  readonly periods?: { readonly breaching: number; readonly of: number };
  /** The section of the runbook, by default the one with the alarm's name. */
  readonly section?: string;
}

export type AlarmDefinitions = Readonly<Record<string, AlarmDefinition>>;

export const minute = { period: Duration.minutes(1) };
export const fiveMinutes = { period: Duration.minutes(5) };

/**
 * A fault of one minute is not worth a notification. The periods are of five minutes, because some faults are retried
 * minutes later, and a shorter period between two attempts would look like the end of the fault. Both must breach: a
 * value between them that does not would clear the alarm when its metrics end.
 */
export const persistent = { breaching: 2, of: 2 };
