import { expect, test } from "vitest";
import { only, synthesize } from "../../support/synthesize.ts";

const { template, aliases } = await synthesize("dev");
const queue = only(template, "AWS::SQS::Queue", "Counting");
const source = only(template, "AWS::Lambda::EventSourceMapping", "Counting");
const queueArn = { "Fn::GetAtt": [queue.id, "Arn"] };

test("maintain-counts reads the table's stream from its beginning, in large batches, one at a time", () => {
  const { FunctionName, FilterCriteria, ...settings } = source.properties;
  const [maintainer] = [...aliases].find(([, name]) => name === "maintain-counts") ?? [];
  expect(JSON.stringify(FunctionName)).toMatch(new RegExp(`"Ref":"${maintainer}".*":live"`));
  expect(settings).toEqual({
    EventSourceArn: { "Fn::GetAtt": [only(template, "AWS::DynamoDB::Table").id, "StreamArn"] },
    StartingPosition: "TRIM_HORIZON",
    BatchSize: 10_000,
    MaximumBatchingWindowInSeconds: 1,
    ParallelizationFactor: 1,
    FunctionResponseTypes: ["ReportBatchItemFailures"],
    BisectBatchOnFunctionError: true,
    MaximumRetryAttempts: -1,
    MaximumRecordAgeInSeconds: 43_200,
    DestinationConfig: { OnFailure: { Destination: queueArn } },
  });
});

test("audit-counts runs every hour", () => {
  const { Target, ...schedule } = only(template, "AWS::Scheduler::Schedule", "Counting").properties;
  expect(schedule).toEqual({
    Description: "Verifies the counts of leads-and-conversations-dev",
    ScheduleExpression: "rate(1 hour)",
    FlexibleTimeWindow: { Mode: "OFF" },
  });
  expect(aliases.get(Target.Arn.Ref)).toBe("audit-counts");
});
