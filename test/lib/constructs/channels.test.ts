import { expect, test } from "vitest";
import { only, synthesize } from "../../support/stack/synthesize.ts";

const { template: without } = await synthesize("prod");
const { template } = await synthesize("prod", { channels: true });

test("channels add resources, and change no other ones except the publisher and two alarms", () => {
  const [before, after] = [without.toJSON().Resources, template.toJSON().Resources];
  const changed = Object.keys(before).filter(
    (id) => JSON.stringify(before[id]) !== JSON.stringify(after[id]),
  );
  expect(
    changed.filter((id) => !/^(publishevents|MonitoringAlarms(backgroundthrottles|invaliditems))/.test(id)),
  ).toEqual([]);
  expect(Object.keys(after).filter((id) => !(id in before))).toHaveLength(24);
  template.resourceCountIs("AWS::CloudWatch::Alarm", 19);
});

test("the webhook's function has a URL that anyone can call, because it checks the signature itself", () => {
  const { id, properties } = only(template, "AWS::Lambda::Url");
  // Another id would make another URL, which Meta does not know.
  expect(id).toBe("ChannelsUrlCA64B4E4");
  expect(properties).toMatchObject({ AuthType: "NONE", Qualifier: "live" });
  const allowed = Object.values(template.findResources("AWS::Lambda::Permission"));
  const toAnyone = allowed.filter(({ Properties }) => Properties.Principal === "*");
  expect(toAnyone.map(({ Properties }) => Properties.Action).sort()).toEqual([
    ...["lambda:InvokeFunction", "lambda:InvokeFunctionUrl"],
  ]);
  // They can call it only by its URL.
  for (const { Properties } of toAnyone)
    expect(Properties.InvokedViaFunctionUrl ?? Properties.FunctionUrlAuthType).toBeTruthy();
});

test("a stage that keeps its data keeps the queues with their messages when channels are switched off", () => {
  const queues = Object.values(
    template.findResources("AWS::SQS::Queue", { Properties: { FifoQueue: true } }),
  );
  expect(queues.map(({ DeletionPolicy }) => DeletionPolicy)).toEqual(Array(2).fill("RetainExceptOnCreate"));
});

test("a queue passes messages one at a time, in the order of each conversation, and keeps those that were given up", () => {
  const deliveries = only(template, "AWS::SQS::Queue", "ChannelsDeliveries").properties;
  const undelivered = only(template, "AWS::SQS::Queue", "ChannelsUndelivered");
  const redrive = { deadLetterTargetArn: { "Fn::GetAtt": [undelivered.id, "Arn"] }, maxReceiveCount: 32 };
  expect(deliveries).toMatchObject({ FifoQueue: true, VisibilityTimeout: 180, RedrivePolicy: redrive });
  // The function gives a message up at the same attempt as the queue.
  const Variables = { MAX_ATTEMPTS: String(redrive.maxReceiveCount) };
  template.hasResourceProperties("AWS::Lambda::Function", { Environment: { Variables } });
  expect(undelivered.properties).toMatchObject({ FifoQueue: true, MessageRetentionPeriod: 14 * 86_400 });
  expect(only(template, "AWS::Lambda::EventSourceMapping", "ChannelsSource").properties).toMatchObject({
    ...{ BatchSize: 1, FunctionResponseTypes: ["ReportBatchItemFailures"] },
    ScalingConfig: { MaximumConcurrency: 5 },
  });
});
