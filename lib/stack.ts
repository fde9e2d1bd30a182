import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { stageTableName } from "../shared/stages.ts";
import type { Config } from "./config/config.ts";
import { Api } from "./constructs/api.ts";
import { Counting } from "./constructs/counting.ts";
import { EventPipe } from "./constructs/event-pipe.ts";
import { ServiceTable } from "./constructs/table.ts";
import { Monitoring } from "./monitoring/monitoring.ts";

interface ServiceStackProps {
  readonly config: Config;
  /** The directory with one folder of bundled code per function. */
  readonly bundles: string;
}

/**
 * The whole service in one stage. The stack only composes: each construct creates its own functions. A construct with
 * a single resource extends that resource's class; a construct that groups several extends `Construct`.
 */
export class ServiceStack extends Stack {
  constructor(scope: Construct, { config, bundles }: ServiceStackProps) {
    // Stack, table, API, bus, pipe and dashboard of a stage share one name.
    const { account, region, tags } = config;
    super(scope, stageTableName(config.stage), {
      // Without them, the account and the region of the credentials, when the stack is deployed.
      env: { ...(account && { account }), ...(region && { region }) },
      tags,
      description: `Leads and conversations REST API (${config.stage})`,
      terminationProtection: config.deletionProtection,
    });
    const table = new ServiceTable(this, "Table", config);
    const api = new Api(this, "Api", { config, table, bundles });
    const counting = new Counting(this, "Counting", { config, table, bundles });
    const events = new EventPipe(this, "Events", { config, table, bundles });
    new Monitoring(this, "Monitoring", { config, bundles, table, api, counting, events });
    new CfnOutput(this, "ApiUrl", { value: api.url });
    if (api.domain) new CfnOutput(this, "DomainTarget", { value: api.domain.regionalDomainName });
    new CfnOutput(this, "TableName", { value: table.tableName });
    new CfnOutput(this, "EventBusName", { value: events.bus.eventBusName });
  }
}
