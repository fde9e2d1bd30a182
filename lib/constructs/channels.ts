import { Duration, Fn, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping, FunctionUrl, FunctionUrlAuthType } from "aws-cdk-lib/aws-lambda";
import { DeduplicationScope, FifoThroughputLimit, Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { DeadLetterQueue } from "./dead-letter-queue.ts";
import { ServiceFunction, type ServiceProps } from "./service-function.ts";

/** The Graph API in a version that Meta supports at least until July 2028. */
const graphUrl = "https://graph.facebook.com/v26.0";

/** How many attempts a message gets, over about six hours, before it has failed. */
const maxAttempts = 32;

/** Delivers the messages of WhatsApp and Instagram, and receives Meta's webhooks about messages. */
export class Channels extends Construct {
  readonly deliverer: ServiceFunction;
  readonly receiver: ServiceFunction;
  readonly url: FunctionUrl;
  readonly undelivered: DeadLetterQueue;
  /** Messages to deliver, in the order of each conversation. */
  readonly deliveries: Queue;

  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id);
    const path = `/${Stack.of(this).stackName}`;
    // The same text whether or not a stage sets its account and region, so that cdk-nag's finding has one name.
    const arnOf = (names: string) =>
      `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${path}/channels/${names}`;
    const readSecrets = (names: string) =>
      new PolicyStatement({ actions: ["ssm:GetParameter"], resources: [Fn.sub(arnOf(names))] });
    const fifo = {
      fifo: true,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      // A stage that keeps its data also keeps the waiting messages when it removes the setting `channels`.
      removalPolicy: props.config.removalPolicy,
      // Thousands of messages a second, in place of 300.
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
    };
    this.undelivered = new DeadLetterQueue(this, "Undelivered", fifo);
    const tokens = "*/token";
    this.deliveries = new Queue(this, "Deliveries", {
      ...fifo,
      // If the function ends without a result, Meta's webhook about the message arrives before the next attempt.
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
      // A message that is retried holds up only its own conversation.
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
      // Meta sends up to a thousand messages at once, and all of them can be from one lead.
      timeout: Duration.seconds(120),
      environment: { SECRETS_PATH: path },
      reservedConcurrentExecutions: props.config.webhookConcurrency,
      statements: [readSecrets("app-secret"), readSecrets("verify-token")],
    });
    // Meta signs its requests, and the function checks the signature.
    this.url = new FunctionUrl(this, "Url", {
      function: this.receiver.alias,
      authType: FunctionUrlAuthType.NONE,
    });
  }
}
