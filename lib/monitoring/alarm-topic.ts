import { RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { type ITopic, Subscription, SubscriptionProtocol, Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import type { AlarmTarget } from "../config/alarm-settings.ts";

/** The topic that alarms are sent to: the one that is named, or one of the stack's own with the address subscribed. */
export function alarmTopic(scope: Construct, target: AlarmTarget): ITopic {
  if ("topicArn" in target) return Topic.fromTopicArn(scope, "Topic", target.topicArn);
  const topic = new Topic(scope, "Topic", { masterKey: topicKey(scope), enforceSSL: true });
  // A topic with a policy of its own has lost the one by which its account may publish.
  topic.addToResourcePolicy(alarmStatement(scope, ["sns:Publish"], topic.topicArn));
  subscribe(scope, topic, target.email);
  return topic;
}

/** CloudWatch cannot use the key that AWS manages for SNS, whose policy nobody can change. */
function topicKey(scope: Construct): Key {
  const key = new Key(scope, "TopicKey", {
    description: "Encrypts the alarms on their way to their subscribers",
    enableKeyRotation: true,
    // SNS keeps nothing that would have to be read later.
    removalPolicy: RemovalPolicy.DESTROY,
  });
  key.addToResourcePolicy(alarmStatement(scope, ["kms:Decrypt", "kms:GenerateDataKey*"], "*"));
  return key;
}

/** Allows CloudWatch something, for alarms of this account and region alone. */
function alarmStatement(scope: Construct, actions: string[], resource: string): PolicyStatement {
  const { account, partition, region } = Stack.of(scope);
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

function subscribe(scope: Construct, topic: Topic, endpoint: string) {
  const subscription = new Subscription(scope, "Email", {
    topic,
    protocol: SubscriptionProtocol.EMAIL,
    endpoint,
  });
  Validations.of(subscription.node.findChild("Resource")).acknowledge({
    id: "Serverless-SNSRedrivePolicy",
    reason:
      "An alarm that could not be sent still shows in CloudWatch, with its history; nobody would send it again.",
  });
}
