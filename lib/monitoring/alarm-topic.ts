import { RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { type ITopic, Subscription, SubscriptionProtocol, Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { AlarmTarget } from "../config/config.ts";

/** The topic that alarms are sent to: an existing one, or one of the stack with the email address subscribed. */
export class AlarmTopic extends Construct {
  readonly topic: ITopic;

  constructor(scope: Construct, id: string, target: AlarmTarget) {
    super(scope, id);
    this.topic =
      "topicArn" in target
        ? Topic.fromTopicArn(this, "Topic", target.topicArn)
        : this.createTopic(target.email);
  }

  private createTopic(email: string): Topic {
    const topic = new Topic(this, "Topic", { masterKey: this.createKey(), enforceSSL: true });
    // A topic policy replaces the default policy, by which the topic's account may publish.
    topic.addToResourcePolicy(this.alarmStatement(["sns:Publish"], topic.topicArn));
    this.subscribe(topic, email);
    return topic;
  }

  /** CloudWatch cannot use the AWS managed key for SNS, and the policy of that key cannot be changed. */
  private createKey(): Key {
    const key = new Key(this, "TopicKey", {
      description: "Encrypts alarm notifications in SNS",
      enableKeyRotation: true,
      // SNS stores no notification that would have to be decrypted later.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    key.addToResourcePolicy(this.alarmStatement(["kms:Decrypt", "kms:GenerateDataKey*"], "*"));
    return key;
  }

  /** Allows the actions to CloudWatch, for alarms of this account and region only. */
  private alarmStatement(actions: string[], resource: string): PolicyStatement {
    const { account, partition, region } = Stack.of(this);
    return new PolicyStatement({
      principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
      actions,
      resources: [resource],
      conditions: {
        StringEquals: { "aws:SourceAccount": account },
        ArnLike: { "aws:SourceArn": `arn:${partition}:cloudwatch:${region}:${account}:alarm:*` },
      },
    });
  }

  private subscribe(topic: Topic, endpoint: string) {
    const subscription = new Subscription(this, "Email", {
      topic,
      protocol: SubscriptionProtocol.EMAIL,
      endpoint,
    });
    Validations.of(subscription.node.findChild("Resource")).acknowledge({
      id: "Serverless-SNSRedrivePolicy",
      reason:
        "CloudWatch shows an alarm and its history even if the notification fails; nobody would send it again.",
    });
  }
}
