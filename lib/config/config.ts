import { join } from "node:path";
import { RemovalPolicy } from "aws-cdk-lib";
import { isStageName, stageNameRule } from "../../shared/stages.ts";
import { UserError } from "../errors.ts";
import { checkStageSettings, hasStageFile, readStageFile, stagesWithFile } from "./stage-file.ts";
import {
  defaults,
  ownSettings,
  type Settings,
  type StageFile,
  type StageSettings,
  stageSchema,
} from "./stage-schema.ts";

/** Where alarms are sent: to an email address, by a topic of the stack, or to an existing topic. */
export type AlarmTarget = { readonly email: string } | { readonly topicArn: string };

/** The configuration of a stage. */
export type Config = Readonly<Omit<Settings, "removalPolicy" | "alarmsTo" | "runbookUrl">> & {
  readonly stage: string;
  readonly removalPolicy: RemovalPolicy;
  readonly alarmsTo: AlarmTarget | undefined;
  readonly runbookUrl: string;
};

type Context = Readonly<Record<string, unknown>>;

const projectStages = join(import.meta.dirname, "../../stages");

/** Names that the CDK itself puts into the context: feature flags, command line values, `cdk.context.json`. */
const cdkNames = /^(?:@?aws-cdk|aws:|cdk|cli-telemetry$|acknowledged-issue-numbers$)/;

/**
 * The configuration of the stage that the context names: `-c stage=staging`, by default `dev`. A stage without a file is
 * like one with a file: `-c stage=pr-42 -c like=dev`.
 *
 * @param directory where the files of the stages are
 * @throws UserError for another value in the context, an unknown stage, or a mistake in its file
 */
export function readConfig(context: Context, directory = projectStages): Config {
  const stage = String(context.stage ?? "dev");
  checkStageName(stage);
  rejectOtherFlags(context, stage);
  return toConfig(stage, readStage(directory, stage, context.like));
}

/**
 * The configuration of a stage that has no file, for other CDK apps.
 *
 * @throws UserError for a mistake in the settings
 */
export function createConfig(stage: string, settings: StageSettings): Config {
  checkStageName(stage);
  return toConfig(stage, checkStageSettings(settings, `The settings of the stage ${stage}`));
}

function checkStageName(stage: string): void {
  if (!isStageName(stage)) throw new UserError(`The stage ${stage} must have ${stageNameRule}.`);
}

function toConfig(stage: string, own: StageSettings): Config {
  const settings = { ...defaults, ...own };
  rejectUnrecoverable(settings, stage);
  const { alarmsTo } = settings;
  return {
    ...settings,
    stage,
    removalPolicy: settings.removalPolicy === "destroy" ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    alarmsTo: alarmsTo?.startsWith("arn:")
      ? { topicArn: alarmsTo }
      : alarmsTo
        ? { email: alarmsTo }
        : undefined,
    runbookUrl: settings.runbookUrl ?? "docs/operations.md",
  };
}

/** A setting that one deployment has and the next one forgets would be taken back. */
function rejectOtherFlags(context: Context, stage: string): void {
  const other = Object.keys(context).find(
    (name) => !["stage", "like"].includes(name) && !cdkNames.test(name),
  );
  if (other === undefined) return;
  throw new UserError(
    Object.hasOwn(stageSchema.properties, other)
      ? `The setting ${other} is not a flag: put it into stages/${stage}.json.`
      : `There is no flag ${other}: the flags are stage and like, and docs/configuration.md lists the settings of stages/${stage}.json.`,
  );
}

/** What a stage sets, by its own file or by the flag `like`. */
function readStage(directory: string, stage: string, like: unknown): StageFile {
  if (like === undefined) return readFile(directory, stage);
  if (hasStageFile(directory, stage)) {
    throw new UserError(`The stage ${stage} has a file: put like into stages/${stage}.json.`);
  }
  return copied(readFile(directory, String(like)));
}

/**
 * What a stage's file sets, over what the stages set that it is like.
 *
 * @param followers the stages that are like this one
 */
function readFile(directory: string, stage: string, followers: readonly string[] = []): StageFile {
  const path = [...followers, stage];
  if (followers.includes(stage)) {
    throw new UserError(`The stages ${path.join(", ")} are like each other in a circle.`);
  }
  if (!hasStageFile(directory, stage)) throw new UserError(noStage(stage, directory));
  const { $schema, like, ...own } = readStageFile(directory, stage);
  return like === undefined ? own : { ...copied(readFile(directory, like, path)), ...own };
}

/** So that a misspelled name does not deploy another stack. */
const noStage = (stage: string, directory: string) =>
  `There is no stages/${stage}.json: write it, add -c like=dev for a stage without a file, or name one of the stages ${stagesWithFile(directory).join(", ")}.`;

/** The settings that a stage gets from one that it is like. */
const copied = (settings: StageFile): StageFile =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !ownSettings.some((own) => own === name)));

/** cdk-nag rejects it too, in ten lines. */
function rejectUnrecoverable({ pointInTimeRecovery, removalPolicy }: StageFile, stage: string): void {
  if (pointInTimeRecovery || removalPolicy === "destroy") return;
  throw new UserError(
    `The stage ${stage} keeps its data, so pointInTimeRecovery must be true, or removalPolicy destroy.`,
  );
}

/**
 * Checks whose credentials the CDK has.
 *
 * @param current the AWS account that the CDK's command line found; undefined without credentials
 * @throws UserError for an account that may not deploy the stage
 */
export function checkAccount({ stage, account, trustedAccounts }: Config, current: string | undefined): void {
  if (!account || !current || [account, ...trustedAccounts].includes(current)) return;
  throw new UserError(
    `The stage ${stage} belongs to the AWS account ${account}, but the credentials are of ${current}.`,
  );
}
