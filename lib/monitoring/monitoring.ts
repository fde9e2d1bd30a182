import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { Construct } from "constructs";
import { ScheduledCanary } from "../constructs/scheduled-canary.ts";
import type { ServiceFunction, ServiceProps } from "../constructs/service-function.ts";
import { Alarms } from "./alarms.ts";
import { ServiceDashboard } from "./dashboard.ts";
import { LogMetrics } from "./log-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

type Constructs = Pick<MonitoredResources, "table" | "api" | "counting" | "events" | "deployment">;

/** Metrics from the logs, a canary, alarms, and a dashboard. */
export class Monitoring extends Construct {
  /** The canary, if the stage has it. */
  readonly canary: ScheduledCanary | undefined;
  /** Every function of the service. */
  readonly functions: readonly ServiceFunction[];

  constructor(scope: Construct, id: string, { config, bundles, ...constructs }: ServiceProps & Constructs) {
    super(scope, id);
    const { table, api, counting, events } = constructs;
    this.canary = config.canary
      ? new ScheduledCanary(this, "Canary", { config, table, bundles, api })
      : undefined;
    const { canary } = this;
    this.functions = [
      ...[api.authorizer, ...api.handlers, counting.maintainer, counting.auditor, events.composer],
      ...(canary ? [canary.runner] : []),
    ];
    const { certificateArn: arn } = config;
    const resources: MonitoredResources = {
      ...constructs,
      logs: new LogMetrics(this, "Requests", constructs),
      ...(arn !== undefined && { certificate: Certificate.fromCertificateArn(this, "Certificate", arn) }),
      ...(canary && { canary }),
      functions: this.functions,
    };
    const alarms = new Alarms(this, "Alarms", { config, resources });
    const { release, runbookUrl } = config;
    new ServiceDashboard(this, "Dashboard", { release, runbookUrl, alarms: alarms.all, resources });
  }
}
