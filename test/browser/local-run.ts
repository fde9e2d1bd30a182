import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { source as axe } from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";
import { freePort, startCommand, untilServing } from "../lib/local/support/process.ts";

export const screenshots = join(import.meta.dirname, "../../.build/screenshots");

/** Finds the machine's Chromium, or the one that `CHROMIUM` names. */
function findChromium({ CHROMIUM, PATH = "" }: NodeJS.ProcessEnv): string {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const candidates = PATH.split(delimiter).flatMap((directory) => names.map((name) => join(directory, name)));
  const executable = CHROMIUM || candidates.find(existsSync);
  if (executable) return executable;
  throw new Error(
    "No Chromium found: install one (Debian: apt-get install chromium) or set CHROMIUM to its path.",
  );
}

/** Starts `npm start`, with data of its own, and a browser, until the tests of the file end. */
export async function startLocalRun() {
  const executablePath = findChromium(process.env);
  await mkdir(screenshots, { recursive: true });
  await using starting = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "browser-"));
  starting.defer(() => rm(directory, { recursive: true }));
  const port = await freePort();
  const command = startCommand({ DATA_DIR: directory, PORT: String(port) });
  starting.defer(command.stop);
  await untilServing(command);
  // Chromium's sandbox does not work for root.
  const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  starting.defer(() => browser.close());
  const key = (await readFile(join(directory, "api-key"), "utf8")).trim();
  const resources = starting.move();
  afterAll(() => resources.disposeAsync());
  return { url: `http://127.0.0.1:${port}`, key, browser };
}

/** How a user sees the page: the width of the window in pixels, and light or dark colours. */
export interface Look {
  readonly width: number;
  readonly scheme: "dark" | "light";
}

export const looks: readonly Look[] = [
  { width: 1280, scheme: "light" },
  { width: 1280, scheme: "dark" },
  { width: 390, scheme: "light" },
  { width: 390, scheme: "dark" },
];

/** Opens a page in a window of its own, which closes when the test ends. */
export async function openPage(browser: Browser, { width, scheme }: Look): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme: scheme });
  // A busy machine may need minutes.
  context.setDefaultTimeout(120_000);
  onTestFinished(() => context.close());
  return context.newPage();
}

/** How many pixels the document is wider than its window. */
export const overflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

/** The visible texts in which axe finds too little contrast. */
export async function contrastFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(
    'axe.run({ runOnly: ["color-contrast"] }).then(({ violations }) => violations.flatMap(({ nodes }) => nodes.map(({ html, failureSummary }) => html + failureSummary)))',
  );
}
