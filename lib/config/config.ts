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
  alarmsTo: alarmTarget,
  /** Where `docs/operations.md` is published. Alarms link to its sections. */
  runbookUrl: webPage,
  /** The origins whose scripts may call the API from a browser. */
  corsOrigins: originList,
  /** A host name for the API in addition to the gateway's own. */
  domainName: hostName,
  /** The certificate for that name, in the stack's region. */
  certificateArn,
};

type Settings = typeof settings;
type SettingName = keyof Settings;
type Values = { readonly [Name in SettingName]: Settings[Name] extends Setting<infer T> ? T : never };

/** The settings, typed for access by a generic name. */
const typedSettings: { readonly [Name in SettingName]: Setting<Values[Name]> } = settings;

/** The configuration of a stage. */
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

/** Names that the CDK itself puts into the context: feature flags, command line values, `cdk.context.json`. */
const cdkNames = /^(?:@?aws-cdk|aws:|cdk|cli-telemetry$|acknowledged-issue-numbers$)/;

type Context = Readonly<Record<string, unknown>>;

/** A misspelled name would otherwise leave a setting at its default silently. */
function rejectUnknownNames(context: Context): void {
  const names = ["stage", ...Object.keys(settings)];
  const unknown = Object.keys(context).find((name) => !names.includes(name) && !cdkNames.test(name));
  if (unknown === undefined) return;
  throw new UserError(
    `Unknown configuration value ${unknown}. The configuration values are ${names.join(", ")}.`,
  );
}

/** A name without a certificate would fail during the deployment; a certificate alone would have no effect. */
function rejectIncompleteDomain({ domainName, certificateArn }: Config): void {
  if ((domainName === undefined) === (certificateArn === undefined)) return;
  throw new UserError("The configuration values domainName and certificateArn must be given together.");
}

/**
 * The configuration of a stage. Values of the context (`-c logRetentionDays=30`) override the stage's defaults.
 *
 * @throws UserError for an unknown stage, an unknown name, an invalid value, or a domain name without a certificate
 */
export function readConfig(context: Context): Config {
  rejectUnknownNames(context);
  const stage = read("stage", choice(stages), context.stage, "dev");
  const value = <Name extends SettingName>(name: Name) =>
    read(name, typedSettings[name], context[name], defaults[stage][name]);
  const names = Object.keys(settings) as SettingName[];
  const values = Object.fromEntries(names.map((name) => [name, value(name)])) as Values;
  const config: Config = { ...values, stage };
  rejectIncompleteDomain(config);
  return config;
}
