import type { ICertificate } from "aws-cdk-lib/aws-certificatemanager";
import type { Api } from "../constructs/api.ts";
import type { Counting } from "../constructs/counting.ts";
import type { Events } from "../constructs/events.ts";
import type { GradualDeployment } from "../constructs/gradual-deployment.ts";
import type { ScheduledCanary } from "../constructs/scheduled-canary.ts";
import type { ServiceFunction } from "../constructs/service-function.ts";
import type { ServiceTable } from "../constructs/table.ts";
import type { LogMetrics } from "./log-metrics.ts";

/** Where the metrics of alarms come from. */
export interface MonitoredResources {
  readonly table: ServiceTable;
  readonly api: Api;
  readonly counting: Counting;
  readonly events: Events;
  readonly logs: LogMetrics;
  /** The certificate of the custom domain, if there is one. */
  readonly certificate: ICertificate | undefined;
  /** Uses the API from outside, if the stage has it. */
  readonly canary: ScheduledCanary | undefined;
  /** Shifts requests to new versions, if the stage deploys gradually. */
  readonly deployment: GradualDeployment | undefined;
  /** Every function of the service. */
  readonly functions: readonly ServiceFunction[];
}
