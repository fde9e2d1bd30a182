import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { Construct } from "constructs";
import { Canary } from "../constructs/canary.ts";
import type { ServiceProps } from "../constructs/service-function.ts";
import { Alarms } from "./alarms.ts";
import { ServiceDashboard } from "./dashboard.ts";
import { LogMetrics } from "./log-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";
import { MonthlyBudget } from "./monthly-budget.ts";

type Constructs = Pick<MonitoredResources, "table" | "api" | "counting" | "events">;

/** Metrics from the logs, a canary, alarms, a dashboard, and a budget. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, { config, bundles, ...constructs }: ServiceProps & Constructs) {
    super(scope, id);
    const { table, api, counting, events } = constructs;
    const canary = config.canary ? new Canary(this, "Canary", { config, table, bundles, api }) : undefined;
    const { certificateArn: arn } = config;
    const resources: MonitoredResources = {
      ...constructs,
      logs: new LogMetrics(this, "Requests", constructs),
      ...(arn !== undefined && { certificate: Certificate.fromCertificateArn(this, "Certificate", arn) }),
      ...(canary && { canary }),
      functions: [
        ...[api.authorizer, ...api.handlers, counting.maintainer, events.composer],
        ...(canary ? [canary.runner] : []),
      ],
    };
    const alarms = new Alarms(this, "Alarms", { config, resources });
    const { runbookUrl, monthlyBudget: amount, alarmsTo } = config;
    new ServiceDashboard(this, "Dashboard", { runbookUrl, alarms: alarms.all, resources });
    if (amount !== undefined && alarmsTo) new MonthlyBudget(this, "Budget", { amount, alarmsTo });
  }
}
