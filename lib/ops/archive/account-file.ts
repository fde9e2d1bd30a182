import { UserError } from "../../errors.ts";
import { type AccountLine, readLine } from "./account-lines.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { openRowFile } from "./row-file.ts";

/** The file of an account, which is the one that its manifest describes. */
export interface AccountFile extends AsyncDisposable {
  readonly manifest: Manifest;
  /** The number of lines. */
  readonly count: number;
  /** Reads the lines. */
  lines(): AsyncGenerator<AccountLine>;
}

/**
 * Opens the file of an account, and compares its bytes with its manifest before anything is written.
 *
 * @throws UserError when the file differs, or when a line cannot be imported
 */
export async function openAccountFile(path: string): Promise<AccountFile> {
  const manifest = await readManifest(path);
  const file = await openRowFile(path);
  try {
    if (file.digest.toString("hex") !== manifest.sha256)
      throw new UserError(`${path} differs from its manifest: it is damaged, or of another export.`);
    const lines = async function* () {
      for await (const row of file.rows()) {
        const line = "value" in row ? readLine(row.value) : undefined;
        if (!line) throw new UserError(`Line ${row.line} of ${path} is not an item of an account.`);
        yield line;
      }
    };
    for await (const _ of lines());
    return { manifest, count: file.count, lines, [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() };
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}
