import { join } from "node:path";
import { isStageName } from "../../shared/stages.ts";
import { UserError } from "../user-error.ts";
import { hasStageFile, readStageFile, stagesWithFile } from "./stage-file.ts";
import { defaults, ownSettings, type Settings, type StageFile } from "./stage-schema.ts";

/** Where the files of the stages are. */
export const projectStages = join(import.meta.dirname, "../../stages");

/**
 * The settings of a stage, by its own file or by the flag `like`, with the defaults of those that it does not set.
 *
 * @throws UserError without a file, or for a mistake in it
 */
export const readSettings = (directory: string, stage: string, like?: unknown): Settings =>
  completeSettings(readStage(directory, stage, like));

/** What a stage sets, with the defaults of the rest. */
export const completeSettings = (own: StageFile): Settings => ({ ...defaults, ...own });

/**
 * The settings of a stage of the project; undefined if it has no file.
 *
 * @throws UserError for a mistake in it
 */
export const readProjectStage = (stage: string): Settings | undefined =>
  hasStageFile(projectStages, stage) ? readSettings(projectStages, stage) : undefined;

/** What a stage sets. */
function readStage(directory: string, stage: string, like: unknown): StageFile {
  if (like === undefined) return readFile(directory, stage);
  if (hasStageFile(directory, stage)) {
    throw new UserError(`The stage ${stage} has a file: put like into stages/${stage}.json.`);
  }
  const other = String(like);
  if (!isStageName(other)) {
    throw new UserError(`The flag like must be the name of a stage, such as -c like=dev, not "${other}".`);
  }
  return copied(readFile(directory, other));
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
