import { CfnOutput, Duration, Stack } from "aws-cdk-lib";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { Api } from "./api.ts";
import type { FunctionName } from "./bundle.ts";
import type { Config } from "./config.ts";
import { Counting } from "./counting.ts";
import { EventPipe } from "./event-pipe.ts";
import { Monitoring } from "./monitoring.ts";
import { rateLimitSettings } from "./rate-limit.ts";
import { type FunctionSettings, ServiceFunction } from "./service-function.ts";
import { ServiceTable } from "./table.ts";

interface ServiceStackProps {
  readonly config: Config;
  /** The directory that holds a folder of code for each function. */
  readonly bundles: string;
}

/** The whole service in one stage. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, { config, bundles }: ServiceStackProps) {
    const name = `leads-and-conversations-${config.stage}`;
    super(scope, name, {
      description: `Leads and conversations REST API (${config.stage})`,
      terminationProtection: config.deletionProtection,
    });
    const table = new ServiceTable(this, "Table", config);
    const functions = new Map<FunctionName, LambdaFunction>();
    const createFunction = (functionName: FunctionName, settings: FunctionSettings) => {
      const { lambda } = new ServiceFunction(this, functionName, { config, table, bundles, ...settings });
      functions.set(functionName, lambda);
      return lambda;
    };
    // One read of one item: past that, a client is better served by a quick failure.
    const authorizer = createFunction("authorize", { timeout: Duration.seconds(5) });
    const api = new Api(this, "Api", {
      config,
      apiName: name,
      authorizer,
      // Long enough for every retry of a busy table, well under the gateway's 30 seconds.
      handler: (route) =>
        createFunction(route, { timeout: Duration.seconds(10), ...rateLimitSettings(config, table) }),
    });
    const counting = new Counting(this, "Counting", {
      table,
      maintainer: (settings) => createFunction("maintain-counts", settings),
    });
    const events = new EventPipe(this, "Events", {
      ...{ config, name, table },
      composer: (settings) => createFunction("compose-events", settings),
    });
    new Monitoring(this, "Monitoring", { config, name, table, api, authorizer, counting, events, functions });
    new CfnOutput(this, "ApiUrl", { value: api.url });
    if (api.domain) new CfnOutput(this, "DomainTarget", { value: api.domain.regionalDomainName });
    new CfnOutput(this, "TableName", { value: table.tableName });
    new CfnOutput(this, "EventBusName", { value: events.bus.eventBusName });
  }
}
