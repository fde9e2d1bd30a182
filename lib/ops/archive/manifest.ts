import { readFile } from "node:fs/promises";
import { errorCode, UserError } from "../../errors.ts";
import { isRecord } from "../../is-record.ts";
import type { LineType } from "./account-lines.ts";

/** What a file with an account contains: the proof that an import has read all of it. */
export interface Manifest {
  readonly format: typeof format;
  readonly version: number;
  readonly account: string;
  /** The table that it was exported from. */
  readonly table: string;
  /** When the export started, ISO 8601 UTC. */
  readonly createdAt: string;
  /** The SHA-256 of the file's bytes, in hexadecimal. */
  readonly sha256: string;
  /** The number of lines of each type. */
  readonly lines: Readonly<Record<LineType, number>>;
}

export const format = "leads-and-conversations-account";

/** Raised by a change with which programs that know only the version before could not import the file. */
export const version = 1;

/** The path of the manifest of a file. */
export const manifestPath = (path: string) => `${path}.manifest.json`;

/**
 * Reads the manifest of a file.
 *
 * @throws UserError when it is missing, or that of a newer version
 */
export async function readManifest(path: string): Promise<Manifest> {
  const file = manifestPath(path);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UserError(`${file} cannot be read (${errorCode(error)}): an export writes it beside its file.`);
  });
  const manifest = parse(text);
  if (manifest?.format !== format || !isRecord(manifest.lines))
    throw new UserError(`${file} is not the manifest of an account.`);
  if (!(Number(manifest.version) <= version))
    throw new UserError(
      `${file} has the version ${manifest.version}, but this program reads versions up to ${version}.`,
    );
  return manifest as unknown as Manifest;
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
