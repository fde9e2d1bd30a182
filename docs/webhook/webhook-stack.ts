import { Duration, SecretValue, Stack, type StackProps, Validations } from "aws-cdk-lib";
import { ApiDestination, Authorization, Connection, EventBus, Rule } from "aws-cdk-lib/aws-events";
import { ApiDestination as ApiDestinationTarget } from "aws-cdk-lib/aws-events-targets";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

interface WebhookProps extends StackProps {
  /** The stage whose events are posted. */
  readonly stage: string;
  /** The account of the API whose events are posted: a receiver gets no other account's. */
  readonly account: string;
  /** The https URL of the receiver. */
  readonly url: string;
  /** The name of a secret in Secrets Manager. Each request has its value in the header `X-Webhook-Secret`. */
  readonly secretName: string;
}

/** Posts the events of one account to a webhook receiver. */
export class WebhookStack extends Stack {
  constructor(scope: Construct, id: string, { stage, account, url, secretName, ...props }: WebhookProps) {
    super(scope, id, props);
    const connection = new Connection(this, "Connection", {
      authorization: Authorization.apiKey("X-Webhook-Secret", SecretValue.secretsManager(secretName)),
    });
    const receiver = new ApiDestination(this, "Receiver", {
      connection,
      endpoint: url,
      // Further events wait. At too low a rate, some are still waiting after 24 hours, and become dead letters.
      rateLimitPerSecond: 50,
    });
    const deadLetterQueue = new Queue(this, "DeadLetters", {
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    new Rule(this, "Events", {
      eventBus: EventBus.fromEventBusName(this, "Bus", `leads-and-conversations-${stage}`),
      eventPattern: {
        source: ["leads-and-conversations"],
        detail: { version: [1], account: [account] },
      },
      targets: [
        new ApiDestinationTarget(receiver, {
          deadLetterQueue,
          retryAttempts: 185,
          maxEventAge: Duration.hours(24),
        }),
      ],
    });
    // For cdk-nag, if your app uses it.
    const reason = "This is a dead-letter queue.";
    Validations.of(deadLetterQueue.node.findChild("Resource")).acknowledge(
      { id: "AwsSolutions-SQS3", reason },
      { id: "Serverless-SQSRedrivePolicy", reason },
    );
  }
}
