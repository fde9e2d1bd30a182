import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import cdkJson from "../cdk.json" with { type: "json" };
import { stageResourceName } from "../shared/stages.ts";
import { Api } from "./constructs/api.ts";
import { Channels } from "./constructs/channels.ts";
import { Counting } from "./constructs/counting.ts";
import { Events } from "./constructs/events.ts";
import { GradualDeployment } from "./constructs/gradual-deployment.ts";
import { ScheduledCanary } from "./constructs/scheduled-canary.ts";
import type { ServiceProps } from "./constructs/service-function.ts";
import { ServiceTable } from "./constructs/table.ts";
import type { MonitoredResources } from "./monitoring/alarm-definitions.ts";
import { Monitoring } from "./monitoring/monitoring.ts";

/**
 * The whole service in one stage. The stack only composes: each construct creates its own functions. A construct with
 * a single resource extends that resource's class; a construct that groups several extends `Construct`.
 */
export class ServiceStack extends Stack {
  readonly table: ServiceTable;
  readonly api: Api;
  readonly events: Events;

  constructor(scope: Construct, { config, bundles }: Omit<ServiceProps, "table">) {
    const { account, region } = config;
    const stackName = stageResourceName(config.stage);
    super(scope, stackName, {
      stackName,
      // By default, the stack is deployed to the account and the region of the credentials.
      env: { ...(account && { account }), ...(region && { region }) },
      description: `Leads and conversations REST API (${config.stage})`,
      terminationProtection: config.isProtected,
    });
    // The stack must be the same in an app with other feature flags.
    for (const [flag, value] of Object.entries(cdkJson.context)) this.node.setContext(flag, value);
    this.table = new ServiceTable(this, "Table", config);
    const props = { config, bundles, table: this.table };
    this.api = new Api(this, "Api", props);
    const counting = new Counting(this, "Counting", props);
    const channels = config.channels ? new Channels(this, "Channels", props) : undefined;
    this.events = new Events(this, "Events", props, channels?.deliveries);
    const { table, api, events } = this;
    const { maintainer, auditor } = counting;
    const functions = [api.authorizer, ...api.handlers, maintainer.fn, auditor, events.publisher.fn];
    if (channels) functions.push(channels.deliverer, channels.receiver);
    // The auditor runs once an hour: too rarely to try a new version on a part of its calls.
    const shifted = functions.filter((fn) => fn !== auditor);
    const deployment =
      config.deployment === "canary" ? new GradualDeployment(this, "Deployment", shifted) : undefined;
    const canary = config.canary ? new ScheduledCanary(this, "Canary", props, api) : undefined;
    if (canary) functions.push(canary.runner);
    const resources = { table, api, counting, events, channels, canary, deployment, functions };
    new Monitoring(this, "Monitoring", config, resources);
    this.addOutputs(config.release, resources);
  }

  /** Outputs what callers, operators and the runbook need to know about the deployed stack. */
  private addOutputs(release: string, resources: Omit<MonitoredResources, "logs">): void {
    const { table, api, counting, events, channels, canary, functions } = resources;
    const outputs = {
      Release: release,
      ApiUrl: api.url,
      DomainTarget: api.domain?.regionalDomainName,
      DomainTargetZone: api.domain?.regionalHostedZoneId,
      TableName: table.tableName,
      EventBusName: events.bus.eventBusName,
      CountingSourceId: counting.maintainer.source.eventSourceMappingId,
      CountingFailuresUrl: counting.maintainer.failures.queueUrl,
      EventsSourceId: events.publisher.source.eventSourceMappingId,
      EventFailuresUrl: events.publisher.failures.queueUrl,
      WebhookUrl: channels?.url.url,
      UndeliveredUrl: channels?.undelivered.queueUrl,
      CanarySchedule: canary?.schedule.ref,
      FunctionNames: this.toJsonString(
        Object.fromEntries(functions.map(({ name, lambda }) => [name, lambda.functionName])),
      ),
      FunctionLogGroups: this.toJsonString(functions.map(({ lambda }) => lambda.logGroup.logGroupName)),
    };
    for (const [name, value] of Object.entries(outputs)) if (value) new CfnOutput(this, name, { value });
  }
}
