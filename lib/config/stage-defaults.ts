import { RemovalPolicy } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Stage } from "../../shared/stages.ts";
import type { Values } from "./settings.ts";

const common = {
  rateLimitRequests: 6000,
  rateLimitSeconds: 60,
  authorizerCacheSeconds: 60,
  // A new AWS account can run ten environments, of which none can be reserved.
  authorizerReservedConcurrency: 0,
  alarmsTo: undefined,
  monthlyBudget: undefined,
  runbookUrl: "docs/operations.md",
  corsOrigins: [],
  domainName: undefined,
  certificateArn: undefined,
} satisfies Partial<Values>;

/** The settings of each stage, unless the context overrides them. */
export const stageDefaults: Readonly<Record<Stage, Values>> = {
  dev: {
    ...common,
    removalPolicy: RemovalPolicy.DESTROY,
    deletionProtection: false,
    pointInTimeRecovery: false,
    throttleRate: 100,
    throttleBurst: 200,
    logRetentionDays: RetentionDays.ONE_WEEK,
  },
  prod: {
    ...common,
    removalPolicy: RemovalPolicy.RETAIN,
    deletionProtection: true,
    pointInTimeRecovery: true,
    // Half of an AWS account's default quotas, which all its APIs in a region share.
    throttleRate: 5000,
    throttleBurst: 2500,
    logRetentionDays: RetentionDays.THREE_MONTHS,
  },
};
