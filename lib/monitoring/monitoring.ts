import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { IFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { FunctionName } from "../bundling/bundle.ts";
import type { Config } from "../config/config.ts";
import type { Api } from "../constructs/api.ts";
import type { Counting } from "../constructs/counting.ts";
import type { EventPipe } from "../constructs/event-pipe.ts";
import { Alarms } from "./alarms.ts";
import { ServiceDashboard } from "./dashboard.ts";
import { RequestMetrics } from "./request-metrics.ts";

interface MonitoringProps {
  readonly config: Config;
  /** The namespace of the metrics, the name of the dashboard, and what the names of the alarms begin with. */
  readonly name: string;
  readonly table: Table;
  readonly api: Api;
  readonly authorizer: IFunction;
  readonly counting: Counting;
  readonly events: EventPipe;
  readonly functions: ReadonlyMap<FunctionName, LambdaFunction>;
}

/** What tells how the service does: metrics from its logs, alarms, and a dashboard of both. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { config, name, table, api, authorizer, counting, events, functions } = props;
    const requests = new RequestMetrics(this, "Requests", {
      namespace: name,
      functions,
      accessLog: api.accessLog,
    });
    const { maintainer, failures } = counting;
    const resources = {
      ...{ table, apiStage: api.stage, functions, authorizer },
      ...{ maintainer, failures, events, requests },
    };
    const { all: alarms } = new Alarms(this, "Alarms", { config, prefix: name, resources });
    new ServiceDashboard(this, "Dashboard", { name, runbookUrl: config.runbookUrl, alarms, resources });
  }
}
