import { Duration, Fn, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping, FunctionUrl, FunctionUrlAuthType } from "aws-cdk-lib/aws-lambda";
import { DeduplicationScope, FifoThroughputLimit, Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { DeadLetterQueue } from "./dead-letter-queue.ts";
import { ServiceFunction, type ServiceProps } from "./service-function.ts";

/** A version of the Graph API, which Meta has at least until July 2028. */
const graphUrl = "https://graph.facebook.com/v26.0";

/** How often a message is tried, over about six hours, before it has failed. */
const maxAttempts = 32;

/** Delivers the messages of WhatsApp and Instagram, and receives what Meta tells of them. */
export class Channels extends Construct {
  readonly deliverer: ServiceFunction;
  readonly receiver: ServiceFunction;
  readonly url: FunctionUrl;
  /** Messages that were not delivered. */
  readonly undelivered: DeadLetterQueue;
  /** In the order of each conversation. */
  readonly deliveries: Queue;

  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id);
    const path = `/${Stack.of(this).stackName}`;
    // The same text in each stage, pinned or not, so that its finding has one name.
    const arnOf = (names: string) =>
      `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${path}/channels/${names}`;
    const readSecrets = (names: string) =>
      new PolicyStatement({ actions: ["ssm:GetParameter"], resources: [Fn.sub(arnOf(names))] });
    const fifo = {
      fifo: true,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      // A stage that takes the setting back keeps what waits.
      removalPolicy: props.config.removalPolicy,
      // Thousands of messages a second, in place of 300.
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
    };
    this.undelivered = new DeadLetterQueue(this, "Undelivered", fifo);
    const tokens = "*/token";
    this.deliveries = new Queue(this, "Deliveries", {
      ...fifo,
      // Of a function that ended without a word: what Meta tells of the message comes before the next attempt.
      visibilityTimeout: Duration.minutes(3),
      deadLetterQueue: { queue: this.undelivered, maxReceiveCount: maxAttempts },
    });
    this.deliverer = new ServiceFunction(this, "deliver-message", {
      ...props,
      timeout: Duration.seconds(30),
      environment: {
        GRAPH_URL: graphUrl,
        SECRETS_PATH: path,
        DELIVERIES_URL: this.deliveries.queueUrl,
        MAX_ATTEMPTS: String(maxAttempts),
      },
      statements: [
        readSecrets(tokens),
        new PolicyStatement({
          actions: [
            "sqs:ReceiveMessage",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ChangeMessageVisibility",
          ],
          resources: [this.deliveries.queueArn],
        }),
      ],
    });
    Validations.of(this.deliverer).acknowledge({
      id: `AwsSolutions-IAM5[Resource::${arnOf(tokens).replaceAll("${", "<").replaceAll("}", ">")}]`,
      reason: "Each connected sender has a token: accounts are connected without a deployment.",
    });
    const source = new EventSourceMapping(this, "Source", {
      target: this.deliverer.alias,
      eventSourceArn: this.deliveries.queueArn,
      // A message that is retried holds up its conversation alone.
      batchSize: 1,
      maxConcurrency: props.config.deliveryConcurrency,
      reportBatchItemFailures: true,
    });
    Validations.of(source.node.findChild("Resource")).acknowledge({
      id: "Serverless-LambdaEventSourceMappingDestination",
      reason: "The queue has its own dead-letter queue.",
    });
    this.receiver = new ServiceFunction(this, "receive-webhook", {
      ...props,
      // Meta sends up to a thousand messages at once, which can be of one lead.
      timeout: Duration.seconds(120),
      environment: { SECRETS_PATH: path },
      reservedConcurrentExecutions: props.config.webhookConcurrency,
      statements: [readSecrets("app-secret"), readSecrets("verify-token")],
    });
    // Meta signs what it sends, and the function checks it.
    this.url = new FunctionUrl(this, "Url", {
      function: this.receiver.alias,
      authType: FunctionUrlAuthType.NONE,
    });
  }
}
