import { CfnOutput, Duration, Stack } from "aws-cdk-lib";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import type { FunctionName } from "./bundling/bundle.ts";
import type { Config } from "./config/config.ts";
import { Api } from "./constructs/api.ts";
import { Counting } from "./constructs/counting.ts";
import { EventPipe } from "./constructs/event-pipe.ts";
import { rateLimitSettings } from "./constructs/rate-limit.ts";
import { type FunctionSettings, ServiceFunction } from "./constructs/service-function.ts";
import { ServiceTable } from "./constructs/table.ts";
import { Monitoring } from "./monitoring/monitoring.ts";

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
