import { expect, test } from "vitest";
import { only, synthesize } from "../../support/synthesize.ts";
import { readAlarms } from "./support/alarms.ts";

const { template } = await synthesize("prod");

test("By default alarms are sent to nobody", () => {
  for (const alarm of readAlarms(template).values()) {
    expect(alarm).not.toHaveProperty("AlarmActions");
    expect(alarm).not.toHaveProperty("OKActions");
  }
  for (const type of ["AWS::SNS::Topic", "AWS::SNS::Subscription", "AWS::KMS::Key"]) {
    expect(template.findResources(type)).toEqual({});
  }
});

test("Alarms are sent to an existing topic when raised and when cleared", async () => {
  const alarmsTo = "arn:aws:sns:eu-west-1:123456789012:alarms";
  const { template: changed } = await synthesize("prod", { alarmsTo });
  for (const alarm of readAlarms(changed).values()) {
    expect(alarm).toMatchObject({ AlarmActions: [alarmsTo], OKActions: [alarmsTo] });
  }
  expect(changed.findResources("AWS::SNS::Topic")).toEqual({});
});

test("What wakes somebody and what can wait are sent to different targets, each with a topic of its own", async () => {
  const look = "arn:aws:sns:eu-west-1:123456789012:alarms";
  const both = await synthesize("prod", { alarmsTo: { wake: "ops@example.com", look } });
  const wake = { Ref: only(both.template, "AWS::SNS::Topic").id };
  const targets = new Map([...readAlarms(both.template)].map(([name, alarm]) => [name, alarm.AlarmActions]));
  expect(targets.get("server-errors-create-lead")).toEqual([wake]);
  expect(targets.get("forbidden-requests")).toEqual([look]);
  expect([...targets.values()].flat()).toHaveLength(targets.size);
  const two = await synthesize("prod", { alarmsTo: { wake: "ops@example.com", look: "team@example.com" } });
  const endpoints = Object.values(two.template.findResources("AWS::SNS::Subscription")).map(
    ({ Properties }) => Properties.Endpoint,
  );
  expect(endpoints).toEqual(["ops@example.com", "team@example.com"]);
});

test("Alarms are sent to an email address by a topic that only this account's alarms may use, over TLS only", async () => {
  const { template: changed } = await synthesize("prod", { alarmsTo: "ops@example.com" });
  const topic = only(changed, "AWS::SNS::Topic");
  const key = only(changed, "AWS::KMS::Key");
  const ref = { Ref: topic.id };
  for (const alarm of readAlarms(changed).values()) {
    expect(alarm).toMatchObject({ AlarmActions: [ref], OKActions: [ref] });
  }
  expect(only(changed, "AWS::SNS::Subscription").properties).toEqual({
    TopicArn: ref,
    Protocol: "email",
    Endpoint: "ops@example.com",
  });
  expect(topic.properties).toEqual({ KmsMasterKeyId: { "Fn::GetAtt": [key.id, "Arn"] } });
  const alarmArn = ["arn:", { Ref: "AWS::Partition" }, ":cloudwatch:", { Ref: "AWS::Region" }, ":"];
  const byAlarms = {
    Effect: "Allow",
    Principal: { Service: "cloudwatch.amazonaws.com" },
    Condition: {
      StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } },
      ArnLike: {
        "aws:SourceArn": { "Fn::Join": ["", [...alarmArn, { Ref: "AWS::AccountId" }, ":alarm:*"]] },
      },
    },
  };
  const withoutIds = (statements: { Sid?: string }[]) => statements.map(({ Sid, ...statement }) => statement);
  expect(withoutIds(only(changed, "AWS::SNS::TopicPolicy").properties.PolicyDocument.Statement)).toEqual([
    {
      Effect: "Deny",
      Principal: "*",
      Action: "sns:Publish",
      Resource: ref,
      Condition: { Bool: { "aws:SecureTransport": "false" } },
    },
    { ...byAlarms, Action: "sns:Publish", Resource: ref },
  ]);
  expect(key.properties.EnableKeyRotation).toBe(true);
  // A key that outlives its stack would cost money and encrypt nothing.
  expect(key.resource.DeletionPolicy).toBe("Delete");
  expect(key.properties.KeyPolicy.Statement.slice(1)).toEqual([
    { ...byAlarms, Action: ["kms:Decrypt", "kms:GenerateDataKey*"], Resource: "*" },
  ]);
});
