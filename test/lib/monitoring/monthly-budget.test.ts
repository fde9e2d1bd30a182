import { expect, test } from "vitest";
import { only, synthesize } from "../../support/synthesize.ts";

const topicArn = "arn:aws:sns:eu-west-1:123456789012:alarms";

test.each([
  ["ops@example.com", { SubscriptionType: "EMAIL", Address: "ops@example.com" }],
  [topicArn, { SubscriptionType: "SNS", Address: topicArn }],
  [
    { wake: "ops@example.com", look: topicArn },
    { SubscriptionType: "SNS", Address: topicArn },
  ],
])("a budget tells %j at 80 % and 100 %, and when it is forecast", async (alarmsTo, subscriber) => {
  const { template } = await synthesize("prod", { alarmsTo, monthlyBudget: 250 });
  const { Budget, NotificationsWithSubscribers } = only(template, "AWS::Budgets::Budget").properties;
  expect(Budget).toEqual({
    BudgetType: "COST",
    TimeUnit: "MONTHLY",
    BudgetLimit: { Amount: 250, Unit: "USD" },
  });
  const notification = (NotificationType: string, Threshold: number) => ({
    Notification: {
      ...{ NotificationType, Threshold, ThresholdType: "PERCENTAGE" },
      ComparisonOperator: "GREATER_THAN",
    },
    Subscribers: [subscriber],
  });
  expect(NotificationsWithSubscribers).toEqual([
    notification("ACTUAL", 80),
    notification("ACTUAL", 100),
    notification("FORECASTED", 100),
  ]);
});

test("there is no budget by default", async () => {
  const { template } = await synthesize("prod", { alarmsTo: topicArn });
  expect(template.findResources("AWS::Budgets::Budget")).toEqual({});
});
