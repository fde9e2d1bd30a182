import { join } from "node:path";
import { Duration, Stack, type StackProps, Validations } from "aws-cdk-lib";
import { EventBus, Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { Runtime } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { StringParameter } from "aws-cdk-lib/aws-ssm";
import type { Construct } from "constructs";

interface WebhookProps extends StackProps {
  /** The stage whose events are posted. */
  readonly stage: string;
  /** The account of the API whose events are posted. A receiver gets no events of other accounts. */
  readonly account: string;
  /** The https URL of the receiver. */
  readonly url: string;
  /** The name of a SecureString in SSM, whose value signs each request: `whsec_` and 24 to 64 bytes in base64. */
  readonly secretName: string;
}

/** Posts the events of one account to a webhook receiver, signed by https://www.standardwebhooks.com. */
export class WebhookStack extends Stack {
  constructor(scope: Construct, id: string, { stage, account, url, secretName, ...props }: WebhookProps) {
    super(scope, id, props);
    const kept = { enforceSSL: true, retentionPeriod: Duration.days(14) };
    const deadLetterQueue = new Queue(this, "DeadLetters", kept);
    const queue = new Queue(this, "Queue", {
      ...kept,
      // The time to the next attempt: 720 attempts take 24 hours.
      visibilityTimeout: Duration.minutes(2),
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: 720 },
    });
    new Rule(this, "Events", {
      eventBus: EventBus.fromEventBusName(this, "Bus", `leads-and-conversations-${stage}`),
      eventPattern: {
        source: ["leads-and-conversations"],
        detail: { version: [1], account: [account] },
      },
      targets: [new SqsQueue(queue, { deadLetterQueue })],
    });
    const poster = new NodejsFunction(this, "Poster", {
      entry: join(import.meta.dirname, "post-event.ts"),
      runtime: Runtime.NODEJS_24_X,
      bundling: { format: OutputFormat.ESM },
      memorySize: 256,
      timeout: Duration.seconds(20),
      environment: { RECEIVER_URL: url, SECRET_NAME: secretName },
    });
    StringParameter.fromSecureStringParameterAttributes(this, "Secret", {
      parameterName: secretName,
    }).grantRead(poster);
    // Further events wait in the queue.
    poster.addEventSource(new SqsEventSource(queue, { batchSize: 1, maxConcurrency: 5 }));
    // For cdk-nag, if your app uses it.
    const reason = "The dead-letter queue keeps what fails.";
    const managed = "Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole";
    Validations.of(this).acknowledge(
      { id: "Serverless-SQSRedrivePolicy", reason },
      { id: "Serverless-LambdaDLQ", reason },
      { id: "Serverless-LambdaEventSourceMappingDestination", reason },
      { id: "Serverless-LambdaTracing", reason: "The log has the id of each event that fails." },
      { id: `AwsSolutions-IAM4[${managed}]`, reason: "It lets the function write its log." },
    );
  }
}
