import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { Construct } from "constructs";
import { ScheduledCanary } from "../constructs/scheduled-canary.ts";
import type { ServiceFunction, ServiceProps } from "../constructs/service-function.ts";
import { addAlarms } from "./alarms.ts";
import { LogMetrics } from "./log-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";

type Constructs = Pick<MonitoredResources, "table" | "api" | "counting" | "events" | "deployment">;

/** Metrics from the logs, a canary, and alarms. */
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
      ...[api.authorizer, ...api.handlers, counting.maintainer.fn, counting.auditor, events.publisher.fn],
      ...(canary ? [canary.runner] : []),
    ];
    const { certificateArn: arn } = config;
    const resources: MonitoredResources = {
      ...constructs,
      logs: new LogMetrics(this, "Requests", { accessLog: api.accessLog, functions: this.functions }),
      certificate: arn === undefined ? undefined : Certificate.fromCertificateArn(this, "Certificate", arn),
      canary,
      functions: this.functions,
    };
    addAlarms(new Construct(this, "Alarms"), config, resources);
  }
}
