import { accessSync, constants } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { freePort, signalProcess, startCommand, untilServing } from "../lib/local/support/process.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Finds the machine's Chromium, or the one that `CHROMIUM` names. */
export function findChromium({ CHROMIUM, PATH = "" }: NodeJS.ProcessEnv): string {
  const candidates = CHROMIUM
    ? [CHROMIUM]
    : PATH.split(delimiter).flatMap((directory) => names.map((name) => join(directory, name)));
  const executable = candidates.find(isExecutable);
  if (executable) return executable;
  throw new Error(
    "No Chromium found: install one (Debian: apt-get install chromium) or set CHROMIUM to its path.",
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

/** `npm start` with a browser beside it. */
export interface BrowsedRun {
  /** The id of its process. */
  readonly pid: number;
  readonly url: string;
  readonly dynamodbEndpoint: string;
  readonly tableName: string;
  /** The key of the account demo. */
  readonly apiKey: string;
  readonly browser: Browser;
  stop(): Promise<void>;
}

/** Starts `npm start` with data of its own, and a Chromium with these further arguments. */
export async function startBrowsedRun(args: string[] = []): Promise<BrowsedRun> {
  const executablePath = findChromium(process.env);
  const directory = await mkdtemp(join(tmpdir(), "browser-"));
  const command = startCommand({ DATA_DIR: directory, PORT: String(await freePort()) });
  await untilServing(command);
  const read = (name: string) => readFile(join(directory, name), "utf8");
  // Chromium's sandbox does not work for root.
  const browser = await chromium.launch({ executablePath, args, chromiumSandbox: process.getuid?.() !== 0 });
  return {
    ...JSON.parse(await read("run.json")),
    pid: command.pid,
    apiKey: (await read("api-key")).trim(),
    browser,
    async stop() {
      await browser.close();
      signalProcess(command.pid, "SIGTERM");
      await command.ended;
      await rm(directory, { recursive: true });
    },
  };
}
