import { type Stage, stages } from "../../shared/stages.ts";
import { UserError } from "../errors.ts";
import { choice, type Setting } from "./setting-parsers.ts";
import { type SettingName, settings, type Values } from "./settings.ts";
import { stageDefaults } from "./stage-defaults.ts";

/** The configuration of a stage. */
export type Config = Values & { readonly stage: Stage };

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

/** A budget that tells nobody would have no effect. */
function rejectSilentBudget({ monthlyBudget, alarmsTo }: Config): void {
  if (monthlyBudget === undefined || alarmsTo !== undefined) return;
  throw new UserError(
    "The configuration value monthlyBudget needs alarmsTo, which is told when it is exceeded.",
  );
}

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
 * @throws UserError for an unknown stage, an unknown name, an invalid value, a domain name without a certificate, or
 *   a budget without a recipient
 */
export function readConfig(context: Context): Config {
  rejectUnknownNames(context);
  const stage = read("stage", choice(stages), context.stage, "dev");
  const value = <Name extends SettingName>(name: Name) =>
    read(name, settings[name], context[name], stageDefaults[stage][name]);
  const names = Object.keys(settings) as SettingName[];
  const values = Object.fromEntries(names.map((name) => [name, value(name)])) as Values;
  const config: Config = { ...values, stage };
  rejectIncompleteDomain(config);
  rejectSilentBudget(config);
  return config;
}
