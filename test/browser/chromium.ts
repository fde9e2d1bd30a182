import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Finds the machine's Chromium, or the one that `CHROMIUM` names. */
export function findChromium({ CHROMIUM, PATH = "" }: NodeJS.ProcessEnv): string {
  const candidates = CHROMIUM
    ? [CHROMIUM]
    : PATH.split(delimiter).flatMap((directory) => names.map((name) => join(directory, name)));
  const executable = candidates.find(isExecutable);
  if (executable) return executable;
  throw new Error(
    CHROMIUM
      ? `CHROMIUM=${CHROMIUM} cannot be executed.`
      : "No Chromium found: install one (Debian: apt-get install chromium) or set CHROMIUM to its path.",
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
