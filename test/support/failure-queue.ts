import type { Template } from "aws-cdk-lib/assertions";
import { expect } from "vitest";
import { only } from "./synthesize.ts";

/** Expects that the failure queue of a construct keeps messages for 14 days and accepts them over TLS only. */
export function expectFailureQueue(template: Template, construct: string): void {
  const queue = only(template, "AWS::SQS::Queue", construct);
  expect(queue.properties).toEqual({ MessageRetentionPeriod: 14 * 24 * 60 * 60 });
  const policy = only(template, "AWS::SQS::QueuePolicy", construct).properties;
  expect(policy.Queues).toEqual([{ Ref: queue.id }]);
  expect(policy.PolicyDocument.Statement).toEqual([
    {
      Effect: "Deny",
      Action: "sqs:*",
      Principal: { AWS: "*" },
      Resource: { "Fn::GetAtt": [queue.id, "Arn"] },
      Condition: { Bool: { "aws:SecureTransport": "false" } },
    },
  ]);
}
