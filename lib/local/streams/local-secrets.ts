import { readFile } from "node:fs/promises";
import { parseJson } from "../../../shared/json.ts";

/**
 * Reads the secrets of the local run from a file, as the commands with `--local` write it.
 *
 * @returns `GetParameter`
 */
export const openLocalSecrets =
  (file: string) =>
  async ({ Name }: { readonly Name: string }) => {
    const text = await readFile(file, "utf8").catch(() => "{}");
    // The name begins with the path of the stage, which the file leaves out.
    const Value: unknown = Reflect.get(Object(parseJson(text)), Name.replace(/^\/[^/]*\//, ""));
    return { Parameter: { Name, ...(typeof Value === "string" && { Value }) } };
  };
