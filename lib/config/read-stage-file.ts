import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Ajv, type ErrorObject } from "ajv";
import { scanJson } from "../../shared/http/json-scan.ts";
import { isStageName } from "../../shared/stages.ts";
import { errorMessage, UserError } from "../user-error.ts";
import { defaults, ownSettings, type Settings, type StageSettings, stageSchema } from "./settings.ts";

/** Where the files of the stages are. */
export const projectStages = join(import.meta.dirname, "../../stages");

/**
 * Reads the settings of a stage from its own file or that of the stage in the flag `like`, and adds the defaults.
 *
 * @throws UserError if there is no such file, or with one sentence about the first mistake in it
 */
export function readSettings(directory: string, stage: string, like?: unknown): Settings {
  if (like === undefined) return readStageFile(directory, stage);
  if (hasFile(directory, stage))
    throw new UserError(
      `The stage ${stage} has a file, so \`-c like\` is not allowed: change stages/${stage}.json.`,
    );
  const others = Object.entries(readStageFile(directory, String(like)));
  const copied = others.filter(([name]) => !ownSettings.includes(name));
  return { ...defaults, ...Object.fromEntries(copied) };
}

/** The settings of a stage of the project; undefined if it has no file. @throws UserError for a mistake in it */
export const readProjectStage = (stage: string): Settings | undefined =>
  hasFile(projectStages, stage) ? readSettings(projectStages, stage) : undefined;

function readStageFile(directory: string, stage: string): Settings {
  // A misspelled name must not deploy another stack.
  if (!hasFile(directory, stage))
    throw new UserError(
      `There is no stages/${stage}.json: write it, or add -c like=dev for a stage without a file.`,
    );
  const name = `${basename(directory)}/${stage}.json`;
  return checkSettings(parse(readFileSync(filePath(directory, stage), "utf8"), name), name);
}

const filePath = (directory: string, stage: string) => join(directory, `${stage}.json`);

const hasFile = (directory: string, stage: string) =>
  isStageName(stage) && existsSync(filePath(directory, stage));

function parse(text: string, name: string): unknown {
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${name} is not valid JSON: ${errorMessage(error)}.`);
  }
  const [repeated] = scanJson(text).duplicates;
  if (repeated !== undefined) throw new UserError(`${name}: ${repeated} occurs more than once: keep one.`);
  return settings;
}

/** Whether the text is an origin as browsers send it. A path, a capital letter or a default port would never match. */
const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;

const ajv = new Ajv({
  strictTypes: false,
  // Errors contain the violated schema and the value.
  verbose: true,
  // The tests check the schema.
  meta: false,
  validateSchema: false,
  formats: { uri: URL.canParse, origin: isOrigin },
});
const isValid = ajv.addKeyword("errorMessage").compile<StageSettings>(stageSchema);

/**
 * Checks the settings of a stage, and adds the defaults.
 *
 * @param source where the settings come from, for the message of the error
 * @throws UserError with one sentence about the first mistake in them
 */
export function checkSettings(settings: unknown, source: string): Settings {
  if (!isValid(settings)) {
    const [error] = isValid.errors ?? [];
    throw new UserError(`${source}: ${error && describeMistake(error)}.`);
  }
  const { $schema, ...own } = settings;
  return { ...defaults, ...own };
}

function describeMistake({ keyword, instancePath, params, parentSchema, data }: ErrorObject): string {
  const setting = toName(instancePath);
  switch (keyword) {
    case "additionalProperties": {
      const known = Object.keys(parentSchema?.properties).join(", ");
      return `there is no setting ${toName(`${instancePath}/${params.additionalProperty}`)}; the settings are ${known}`;
    }
    case "required":
      return `${setting} needs ${params.missingProperty}`;
    case "dependencies":
      return `${toName(`${instancePath}/${params.property}`)} needs ${toName(`${instancePath}/${params.missingProperty}`)}`;
    default:
      return `${setting || "it"} must be ${parentSchema?.errorMessage}, not ${JSON.stringify(data)}`;
  }
}

/** A setting's name from its JSON pointer, such as `corsOrigins.1`. */
const toName = (pointer: string) => pointer.slice(1).replaceAll("/", ".");
