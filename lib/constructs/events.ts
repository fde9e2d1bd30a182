import { Duration, Stack } from "aws-cdk-lib";
import { CfnArchive, EventBus } from "aws-cdk-lib/aws-events";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { eventItems, eventSource } from "../../shared/domain/events.ts";
import { type ItemType, itemTypes } from "../../shared/dynamodb/keys.ts";
import type { ServiceProps } from "./service-function.ts";
import { StreamReader } from "./stream-reader.ts";

/** Publishes events of leads, conversations and messages to an event bus, for which channel connectors define rules. */
export class Events extends Construct {
  readonly bus: EventBus;
  readonly publisher: StreamReader;

  /** @param deliveries the queue of messages that the service delivers itself, if it does */
  constructor(scope: Construct, id: string, props: ServiceProps, deliveries: Queue | undefined) {
    super(scope, id);
    this.bus = new EventBus(this, "Bus", {
      eventBusName: Stack.of(this).stackName,
      description: "New leads, conversations and messages, changes and erased leads: docs/events.md",
    });
    const { eventArchiveDays } = props.config;
    // EventBridge can replay the events of this service from an archive.
    if (eventArchiveDays !== undefined)
      // `bus.archive` sets the empty key "", which some regions refuse: https://github.com/aws/aws-cdk/issues/37847.
      new CfnArchive(this, "Archive", {
        archiveName: Stack.of(this).stackName,
        sourceArn: this.bus.eventBusArn,
        eventPattern: { source: [eventSource] },
        retentionDays: eventArchiveDays,
      });
    this.publisher = new StreamReader(this, "Publisher", "publish-events", {
      ...props,
      timeout: Duration.seconds(60),
      environment: {
        EVENT_BUS_NAME: this.bus.eventBusName,
        ...(deliveries && { DELIVERIES_URL: deliveries.queueUrl }),
      },
      statements: [
        new PolicyStatement({ actions: ["events:PutEvents"], resources: [this.bus.eventBusArn] }),
        ...(deliveries
          ? [new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [deliveries.queueArn] })]
          : []),
      ],
      // A full batch takes at least ten calls of PutEvents, and at most a hundred.
      batchSize: 100,
      filters,
    });
    const { fn, failures } = this.publisher;
    fn.lambda.addEnvironment("FAILURES_URL", failures.queueUrl);
  }
}

const keyFilter = (cause: "created" | "changed") => {
  const types = (Object.keys(eventItems) as ItemType[]).filter((type) => eventItems[type]?.[cause]);
  return { pk: { S: types.map((type) => ({ prefix: `${itemTypes[type]}#` })) } };
};

/** New items, and changed rows with a `changeId`. A message removes it from its conversation, which thus does not pass. */
const filters = [
  { eventName: ["INSERT"], dynamodb: { Keys: keyFilter("created") } },
  {
    eventName: ["MODIFY"],
    dynamodb: { Keys: keyFilter("changed"), NewImage: { changeId: { S: [{ prefix: "change_" }] } } },
  },
];
