import type { IMetric } from "aws-cdk-lib/aws-cloudwatch";
import type { AlarmSection } from "./alarm-thresholds.ts";

/** What an alarm monitors. `alarm-thresholds.ts` says when it is raised. */
export interface MonitoredFault {
  /** One sentence: the fault and whom it affects. */
  readonly meaning: string;
  readonly metric: IMetric;
  /** Whether it ends a gradual deployment, which then returns to the previous version. */
  readonly rollsBack?: true;
  /** The section of the runbook, by default the one with the alarm's name. */
  readonly section?: AlarmSection;
}

/** Faults by the names of their alarms. */
export type MonitoredFaults = Readonly<Record<string, MonitoredFault>>;
