import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import type { Construct } from "constructs";
import type { AlarmTarget } from "../config/config.ts";

interface MonthlyBudgetProps {
  /** In US dollars. */
  readonly amount: number;
  readonly alarmsTo: AlarmTarget;
}

/**
 * Tells when the whole AWS account has cost, or by AWS's forecast will cost, more than an amount in a month. A budget stops
 * nothing, and AWS updates it a few times a day.
 *
 * An email address is subscribed to the budget itself. The policy of an existing topic must let `budgets.amazonaws.com`
 * publish to it.
 *
 * @see https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-sns-policy.html
 */
export class MonthlyBudget extends CfnBudget {
  constructor(scope: Construct, id: string, { amount, alarmsTo }: MonthlyBudgetProps) {
    const subscriber =
      "email" in alarmsTo
        ? { subscriptionType: "EMAIL", address: alarmsTo.email }
        : { subscriptionType: "SNS", address: alarmsTo.topicArn };
    const exceeds = (notificationType: "ACTUAL" | "FORECASTED", threshold: number) => ({
      notification: {
        ...{ notificationType, threshold, thresholdType: "PERCENTAGE" },
        comparisonOperator: "GREATER_THAN",
      },
      subscribers: [subscriber],
    });
    // Without a name of its own, CloudFormation can replace it when its recipient changes.
    super(scope, id, {
      budget: { budgetType: "COST", timeUnit: "MONTHLY", budgetLimit: { amount, unit: "USD" } },
      notificationsWithSubscribers: [
        exceeds("ACTUAL", 80),
        exceeds("ACTUAL", 100),
        exceeds("FORECASTED", 100),
      ],
    });
  }
}
