import { readFile } from "node:fs/promises";
import { errorCode, UserError } from "../../errors.ts";
import { parseJson } from "../../parse-json.ts";
import { isAccountId } from "../common/options.ts";
import { fields, type LineType, lineTypes, text } from "./archive-lines.ts";
import { fieldCheck, timeFaults } from "./check-fields.ts";
import { describeFault, rowFault } from "./row.ts";

/** What an archive contains: the proof that an import has read all of it. */
export interface Manifest {
  readonly format: typeof format;
  readonly version: typeof version;
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

/** The path of the manifest of an archive. */
export const manifestPath = (path: string) => `${path}.manifest.json`;

const count = { type: "integer", minimum: 0 } as const;

const check = fieldCheck(
  "a manifest",
  fields({
    format: { type: "string", enum: [format] },
    version: count,
    ...{ account: text, table: text, createdAt: text, sha256: text },
    lines: fields(Object.fromEntries(lineTypes.map((type) => [type, count]))),
  }),
);

/**
 * Reads the manifest of an archive.
 *
 * @throws UserError when it is missing or invalid, or that of another version
 */
export async function readManifest(path: string): Promise<Manifest> {
  const file = manifestPath(path);
  const json = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UserError(`${file} cannot be read (${errorCode(error)}): an export writes it beside its file.`);
  });
  const manifest = parseJson(json);
  if (manifest === undefined) throw new UserError(`${file} is not JSON.`);
  const [fault] = check(manifest);
  if (fault) throw new UserError(`${file}: ${describeFault(fault, "the manifest")}`);
  const checked = manifest as Manifest;
  const [other] = [
    ...(isAccountId(checked.account)
      ? []
      : [rowFault("account", "invalid_format", "must be the id of an account")]),
    ...timeFaults("createdAt", checked.createdAt, Date.now()),
  ];
  if (other) throw new UserError(`${file}: ${describeFault(other)}`);
  if (checked.version === version) return checked;
  throw new UserError(
    `${file} has the version ${checked.version}, but this program reads version ${version}.`,
  );
}
