import { RemovalPolicy } from "aws-cdk-lib";
import { isStageName, stageNameRule } from "../../shared/stages.ts";
import { codePaths, releaseName } from "../release-name.ts";
import { UserError } from "../user-error.ts";
import { checkSettings, projectStages, readSettings } from "./read-stage-file.ts";
import type { Settings, StageSettings } from "./settings.ts";

/** The configuration of a stage. */
export type Config = Readonly<ReturnType<typeof toConfig>>;

type Context = Readonly<Record<string, unknown>>;

/** Names that the CDK itself puts into the context: feature flags, command line values, `cdk.context.json`. */
const cdkNames =
  /^(?:@aws-cdk(?:-containers)?\/|aws-cdk:|aws:cdk:|cli-telemetry$|acknowledged-issue-numbers$)/;

/**
 * Reads the configuration of the stage that the context names: `-c stage=staging`, by default `dev`. A stage without a file
 * gets the settings of another stage: `-c stage=pr-42 -c like=dev`. With `-c protected=false`, a stage that keeps its data
 * can still be deleted, which a failed first deployment needs before it is retried.
 *
 * @throws UserError for an unknown flag in the context, an unknown stage, or a mistake in its file
 */
export function readConfig(context: Context, directory = projectStages): Config {
  const stage = String(context.stage ?? "dev");
  checkStageName(stage);
  rejectOtherFlags(context, stage);
  return toConfig(stage, readSettings(directory, stage, context.like), String(context.protected) !== "false");
}

/**
 * Creates the configuration of a stage that has no file, for other CDK apps.
 *
 * @param isProtected whether deleting the stack and the table is refused in a stage that keeps its data
 * @throws UserError for a mistake in the settings
 */
export function createConfig(stage: string, settings: StageSettings, isProtected = true): Config {
  checkStageName(stage);
  return toConfig(stage, checkSettings(settings, `The settings of the stage ${stage}`), isProtected);
}

function checkStageName(stage: string): void {
  if (!isStageName(stage)) throw new UserError(`The stage ${stage} must have ${stageNameRule}.`);
}

function toConfig(stage: string, settings: Settings, isProtected: boolean) {
  const keepsData = settings.removalPolicy === "retain";
  return {
    ...settings,
    stage,
    release: releaseName(),
    /** The last release that changed the code of the functions. */
    codeRelease: releaseName(codePaths),
    // Unlike RETAIN, it deletes what a failed first deployment has created, which would stop the next deployment.
    removalPolicy: keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    /** Whether deleting the table and the stack is refused. */
    isProtected: keepsData && isProtected,
  };
}

/** Rejects settings as flags: a flag that the next deployment forgets would undo the setting. */
function rejectOtherFlags(context: Context, stage: string): void {
  const other = Object.keys(context).find(
    (name) => !["stage", "like", "protected"].includes(name) && !cdkNames.test(name),
  );
  if (other === undefined) return;
  throw new UserError(
    `There is no flag ${other}: the flags are stage, like and protected. Settings are in stages/${stage}.json.`,
  );
}
