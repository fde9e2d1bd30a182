import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Ajv, type ErrorObject } from "ajv";
import { scanJson } from "../../shared/http/json-scan.ts";
import { nearestName } from "../../shared/http/nearest-name.ts";
import { isStageName } from "../../shared/stages.ts";
import { errorMessage, UserError } from "../user-error.ts";
import { type StageFile, type StageSettings, stageSchema } from "./stage-schema.ts";

/** Whether the text is an origin as browsers send it. A path, a capital letter or a default port would never match. */
const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;

const ajv = new Ajv({
  strictTypes: false,
  // Errors have the schema that they break, and the value.
  verbose: true,
  // The tests check the schema.
  meta: false,
  validateSchema: false,
  formats: { uri: URL.canParse, origin: isOrigin },
});
ajv.addKeyword("errorMessage");
// Only files can name a schema or another file.
const { $schema, like, ...properties } = stageSchema.properties;
const settingsSchema = { ...stageSchema, properties };

const fileName = (stage: string) => `${stage}.json`;

export const hasStageFile = (directory: string, stage: string) =>
  isStageName(stage) && existsSync(join(directory, fileName(stage)));

/** The stages that have a file. */
export const stagesWithFile = (directory: string) =>
  readdirSync(directory)
    .map((name) => basename(name, ".json"))
    .filter((name) => hasStageFile(directory, name))
    .sort();

/**
 * Reads what a stage's file sets.
 *
 * @throws UserError with one sentence about the first mistake in it
 */
export function readStageFile(directory: string, stage: string): StageFile {
  const path = `${basename(directory)}/${fileName(stage)}`;
  const settings = parse(readFileSync(join(directory, fileName(stage)), "utf8"), path);
  return check<StageFile>(stageSchema, settings, path);
}

/**
 * Checks settings that are not from a file.
 *
 * @param source what has the settings, for the error
 * @throws UserError with one sentence about the first mistake in them
 */
export const checkStageSettings = (settings: unknown, source: string): StageSettings =>
  check<StageSettings>(settingsSchema, settings, source);

function check<T>(schema: object, settings: unknown, source: string): T {
  const isValid = ajv.compile<T>(schema);
  if (isValid(settings)) return settings;
  // The last one is of the whole setting; those before it are of its alternatives.
  const error = isValid.errors?.at(-1);
  throw new UserError(`${source}: ${error && describeMistake(error)}.`);
}

function parse(text: string, path: string): unknown {
  const settings = parseStageJson(text, path);
  const [repeated] = scanJson(text).duplicates;
  if (repeated !== undefined) throw new UserError(`${path}: ${repeated} is there more than once: keep one.`);
  return settings;
}

function parseStageJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UserError(`${path} is not valid JSON: ${errorMessage(error)}.`);
  }
}

function describeMistake({ keyword, instancePath, params, parentSchema, data }: ErrorObject): string {
  const setting = toName(instancePath);
  switch (keyword) {
    case "additionalProperties": {
      const known = Object.keys(parentSchema?.properties);
      const nearest = nearestName(params.additionalProperty, known);
      const hint = nearest === undefined ? "the settings are" : `did you mean ${nearest}? The settings are`;
      return `there is no setting ${toName(`${instancePath}/${params.additionalProperty}`)}; ${hint} ${known.join(", ")}`;
    }
    case "required":
      return `${setting} needs ${params.missingProperty}`;
    case "dependencies":
      return `${toName(`${instancePath}/${params.property}`)} needs ${toName(`${instancePath}/${params.missingProperty}`)}`;
    default:
      return `${setting || "it"} must be ${parentSchema?.errorMessage}, not ${JSON.stringify(data)}`;
  }
}

/** A setting's name from its JSON pointer, such as `corsOrigins[1]`. */
const toName = (pointer: string) =>
  pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
