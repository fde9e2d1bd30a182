import { RemovalPolicy } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { alarmTarget, webPage } from "./alarm-settings.ts";
import { certificateArn, hostName, originList } from "./domain-settings.ts";
import { choice, flag, type Setting, wholeNumber } from "./setting-parsers.ts";

const retentions = Object.values(RetentionDays).filter(
  (days): days is RetentionDays => typeof days === "number" && days !== RetentionDays.INFINITE,
);

const parsers = {
  /** Whether the table and the logs are deleted with the stack. */
  removalPolicy: choice([RemovalPolicy.DESTROY, RemovalPolicy.RETAIN]),
  /** Whether DynamoDB rejects the deletion of the table, and CloudFormation that of the stack. */
  deletionProtection: flag,
  /** Whether the table can be restored to any second of the last 35 days. */
  pointInTimeRecovery: flag,
  /** Requests per second that the gateway allows for all accounts together. */
  throttleRate: wholeNumber(1, 100_000),
  /** Requests that may arrive at once before the rate applies. */
  throttleBurst: wholeNumber(1, 100_000),
  /** Requests that an account may make per window; 0 for no limit. */
  rateLimitRequests: wholeNumber(0, 100_000_000),
  /** The length of a window. */
  rateLimitSeconds: wholeNumber(1, 3600),
  logRetentionDays: {
    allowed: `a retention that CloudWatch supports (${retentions.join(", ")})`,
    parse: (text) => retentions.find((days) => String(days) === text),
  } satisfies Setting<RetentionDays>,
  /** How long the gateway caches the authorizer's result. A revoked key works at most that long. */
  authorizerCacheSeconds: wholeNumber(0, 3600),
  /**
   * How many environments only the authorizer can use, and at most; 0 reserves none. Lambda rejects a reserve that leaves
   * fewer than 100 to all other functions of the AWS account.
   */
  authorizerReservedConcurrency: wholeNumber(0, 10_000),
  alarmsTo: alarmTarget,
  /** What the AWS account may cost in a month, in US dollars, before `alarmsTo` is told. */
  monthlyBudget: wholeNumber(1, 999_999_999) as Setting<number | undefined>,
  /** Where `docs/operations.md` is published. Alarms link to its sections. */
  runbookUrl: webPage,
  /** The origins whose scripts may call the API from a browser. */
  corsOrigins: originList,
  /** A host name for the API in addition to the gateway's own. */
  domainName: hostName,
  /** The certificate for that name, in the stack's region. */
  certificateArn,
};

type Parsers = typeof parsers;

export type SettingName = keyof Parsers;

/** A value for each setting. */
export type Values = { readonly [Name in SettingName]: Parsers[Name] extends Setting<infer T> ? T : never };

/** Every setting of a stage, typed for access by a generic name. */
export const settings: { readonly [Name in SettingName]: Setting<Values[Name]> } = parsers;
