import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { source as axe } from "axe-core";
import type { Browser, Locator, Page } from "playwright-core";

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

export async function openPage(browser: Browser, { width, scheme }: Look): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme: scheme });
  // A busy machine may need minutes.
  context.setDefaultTimeout(120_000);
  return context.newPage();
}

/** Opens the reference in a window of its own. `errors` has what it logs as an error or throws. */
export async function openReference(browser: Browser, url: string, look: Look) {
  const page = await openPage(browser, look);
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(url);
  await page.locator("#text").waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Authentication", exact: true }).waitFor();

  /** Goes to a part by its link in the sidebar, which a narrow window hides behind a button, and returns the part. */
  const goTo = async (name: string) => {
    const menu = page.getByRole("button", { name: "Open Menu" });
    const isNarrow = await menu.isVisible();
    if (isNarrow) await menu.click();
    const sidebar = page.getByRole("complementary");
    await sidebar.getByRole("link", { name: new RegExp(`^${name}( HTTP|$)`) }).click();
    if (isNarrow) await menu.waitFor();
    const part = page.getByRole("region", { name, exact: true });
    await part.waitFor();
    return part;
  };
  /** Opens the dialog of an operation, sends its request with changes of the body, and returns the response that it shows. */
  const send = async (name: string, change: (dialog: Locator) => Promise<void> = async () => {}) => {
    const part = await goTo(name);
    await part.getByRole("button", { name: "Try it" }).click();
    const dialog = page.getByRole("dialog", { name: "API Client" });
    await change(dialog);
    await dialog.getByRole("button", { name: /^Send (get|post) request/ }).click();
    const response = dialog.getByRole("region", { name: "Response", exact: true });
    const status = await response.getByRole("link", { name: /^\d{3} / }).innerText();
    const body = await response.getByRole("region", { name: "Body" }).locator(".cm-content").innerText();
    return { status: Number.parseInt(status, 10), body: JSON.parse(body), width: await overflow(page) };
  };
  const close = () => page.getByRole("button", { name: "Close Client" }).click();
  return { page, requests, errors, goTo, send, close };
}

/** The editor of the request's body in a dialog. */
export const bodyEditor = (dialog: Locator) =>
  dialog.getByRole("region", { name: "Request Body" }).locator(".cm-content");

/** How many pixels the document is wider than its window. */
export const overflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

/** The samples of guides that are wider than their visible part. */
export const cutSamples = (page: Page) =>
  page.evaluate<string[]>(
    '[...document.querySelectorAll(".markdown pre, .markdown pre code")].filter((sample) => sample.scrollWidth > sample.clientWidth).map(({ innerText }) => innerText)',
  );

/** The visible texts in which axe finds too little contrast. */
export async function contrastFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(
    'axe.run({ runOnly: ["color-contrast"] }).then(({ violations }) => violations.flatMap(({ nodes }) => nodes.map(({ html, failureSummary }) => html + failureSummary)))',
  );
}
