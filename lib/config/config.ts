import { RemovalPolicy } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { type Stage, stages } from "../../shared/stages.ts";
import { UserError } from "../errors.ts";
import { alarmTarget, webPage } from "./alarm-settings.ts";
import { certificateArn, hostName, originList } from "./domain-settings.ts";
import { choice, flag, type Setting, wholeNumber } from "./setting.ts";

const retentions = Object.values(RetentionDays).filter(
  (days): days is RetentionDays => typeof days === "number" && days !== RetentionDays.INFINITE,
);

const settings = {
  /** What becomes of the table and the logs when the stack is deleted. */
  removalPolicy: choice([RemovalPolicy.DESTROY, RemovalPolicy.RETAIN]),
  /** Whether DynamoDB refuses to delete the table, and CloudFormation the stack. */
  deletionProtection: flag,
  /** Whether the table can be set back to any second of the last 35 days. */
  pointInTimeRecovery: flag,
  /** Requests a second that the gateway lets through, of all accounts together. */
  throttleRate: wholeNumber(1, 100_000),
  /** Requests that may arrive at once before the rate holds. */
  throttleBurst: wholeNumber(1, 100_000),
  /** Requests that an account may make in a window; 0 for any number. */
  rateLimitRequests: wholeNumber(0, 100_000_000),
  /** The length of the window. */
  rateLimitSeconds: wholeNumber(1, 3600),
  logRetentionDays: {
    allowed: `a number of days that CloudWatch knows (${retentions.join(", ")})`,
    parse: (text) => retentions.find((days) => String(days) === text),
  } satisfies Setting<RetentionDays>,
  /** How long an authorizer's answer is used again: a revoked key works at most that long. */
  authorizerCacheSeconds: wholeNumber(0, 3600),
  alarmsTo: alarmTarget,
  /** Where `docs/operations.md` is published: alarms link to its sections. */
  runbookUrl: webPage,
  /** The origins whose scripts browsers let call the API and read its answers. */
  corsOrigins: originList,
  /** A host name for the API beside the gateway's own. */
  domainName: hostName,
  /** The certificate for that name, of the stack's own region. */
  certificateArn,
};

type Settings = typeof settings;
type SettingName = keyof Settings;
type Values = { readonly [Name in SettingName]: Settings[Name] extends Setting<infer T> ? T : never };

/** What differs between the stages. */
export type Config = Values & { readonly stage: Stage };

const common = {
  rateLimitRequests: 6000,
  rateLimitSeconds: 60,
  authorizerCacheSeconds: 60,
  alarmsTo: undefined,
  runbookUrl: "docs/operations.md",
  corsOrigins: [],
  domainName: undefined,
  certificateArn: undefined,
} satisfies Partial<Values>;

const defaults: Readonly<Record<Stage, Values>> = {
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

function read<T>(name: string, setting: Setting<T>, value: unknown, fallback: T): T {
  if (value === undefined) return fallback;
  const parsed = setting.parse(String(value));
  if (parsed === undefined) {
    throw new UserError(`The configuration value ${name}=${String(value)} must be ${setting.allowed}.`);
  }
  return parsed;
}

/** Names of the CDK's own: flags, what its command line passes on, and what it keeps in `cdk.context.json`. */
const cdkNames = /^(?:@?aws-cdk|aws:|cdk|cli-telemetry$|acknowledged-issue-numbers$)/;

type Context = Readonly<Record<string, unknown>>;

/** A misspelled name would otherwise leave a setting at its default without a word. */
function refuseUnknown(context: Context): void {
  const known = ["stage", ...Object.keys(settings)];
  const unknown = Object.keys(context).find((name) => !known.includes(name) && !cdkNames.test(name));
  if (unknown === undefined) return;
  throw new UserError(`There is no configuration value ${unknown}, only ${known.join(", ")}.`);
}

/** A name without a certificate would fail in the middle of a deployment; a certificate alone would do nothing. */
function refuseHalfADomain({ domainName, certificateArn }: Config): void {
  if ((domainName === undefined) === (certificateArn === undefined)) return;
  throw new UserError(
    "The configuration values domainName and certificateArn go together: give both or neither.",
  );
}

/**
 * The configuration of a stage, with the values of the context (`-c logRetentionDays=30`) over its own.
 *
 * @throws UserError for an unknown stage, an unknown name, a value that is not allowed, or half a domain
 */
export function readConfig(context: Context): Config {
  refuseUnknown(context);
  const stage = read("stage", choice(stages), context.stage, "dev");
  const own = defaults[stage];
  const setting = <Name extends SettingName>(name: Name) =>
    read<Values[Name]>(name, settings[name] as Setting<Values[Name]>, context[name], own[name]);
  const names = Object.keys(settings) as SettingName[];
  const values = Object.fromEntries(names.map((name) => [name, setting(name)])) as unknown as Values;
  const config: Config = { ...values, stage };
  refuseHalfADomain(config);
  return config;
}
