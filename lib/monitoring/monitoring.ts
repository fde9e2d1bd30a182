import { Stack } from "aws-cdk-lib";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { QueryDefinition, QueryString } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { RequestLine } from "../../shared/http/request-log.ts";
import { request } from "../../shared/logging/log-events.ts";
import type { Api } from "../constructs/api.ts";
import { ScheduledCanary } from "../constructs/scheduled-canary.ts";
import type { ServiceFunction, ServiceProps } from "../constructs/service-function.ts";
import { Alarms } from "./alarms.ts";
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
      ...[api.authorizer, ...api.handlers, counting.maintainer, counting.auditor, events.composer],
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
    new Alarms(this, "Alarms", { config, resources });
    this.saveUsageQuery(api);
  }

  /** Saves a search of the logs: the requests of each account, with the units of the table that they used. */
  private saveUsageQuery({ handlers }: Api): void {
    const field = (name: keyof RequestLine) => `message.${name}`;
    new QueryDefinition(this, "Usage", {
      queryDefinitionName: `${Stack.of(this).stackName}/usage-by-account`,
      logGroups: handlers.map(({ lambda }) => lambda.logGroup),
      queryString: new QueryString({
        filterStatements: [`${field("event")} = "${request}"`],
        statsStatements: [
          `count(*) as requests, sum(${field("reads")}) as reads, sum(${field("writes")}) as writes by ${field("account")}`,
        ],
        sort: "requests desc",
        limit: 10_000,
      }),
    });
  }
}
