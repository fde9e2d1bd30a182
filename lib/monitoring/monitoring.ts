import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { Construct } from "constructs";
import type { Config } from "../config/config.ts";
import { Alarms } from "./alarms.ts";
import { ServiceDashboard } from "./dashboard.ts";
import { LogMetrics } from "./log-metrics.ts";
import type { MonitoredResources } from "./monitored-resources.ts";
import { MonthlyBudget } from "./monthly-budget.ts";

interface MonitoringProps extends Omit<MonitoredResources, "logs" | "certificate" | "functions"> {
  readonly config: Config;
}

/** Metrics from the logs, alarms, a dashboard, and a budget. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, { config, ...constructs }: MonitoringProps) {
    super(scope, id);
    const { api, counting, events } = constructs;
    const { certificateArn: arn } = config;
    const resources: MonitoredResources = {
      ...constructs,
      logs: new LogMetrics(this, "Requests", constructs),
      ...(arn !== undefined && { certificate: Certificate.fromCertificateArn(this, "Certificate", arn) }),
      functions: [api.authorizer, ...api.handlers, counting.maintainer, events.composer],
    };
    const alarms = new Alarms(this, "Alarms", { config, resources });
    const { runbookUrl, monthlyBudget: amount, alarmsTo } = config;
    new ServiceDashboard(this, "Dashboard", { runbookUrl, alarms: alarms.all, resources });
    if (amount !== undefined && alarmsTo) new MonthlyBudget(this, "Budget", { amount, alarmsTo });
  }
}
