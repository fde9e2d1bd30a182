import type { Browser, Locator, Page, Request } from "playwright-core";

/** What a user has: a window's width in pixels, and light or dark colours. */
export interface Look {
  readonly width: number;
  readonly scheme: "dark" | "light";
}

/** The reference in a browser window. */
export interface ReferencePage {
  readonly page: Page;
  /** Every request that the page has sent. */
  readonly requests: readonly Request[];
  /** What the page has logged as an error, and what it has thrown. */
  readonly errors: readonly string[];
  /** Opens the sidebar if the window is too narrow to show it always. */
  openSidebar(): Promise<Locator>;
  /** Goes to a part by its link in the sidebar, and returns the part. */
  goTo(name: string): Promise<Locator>;
  /** Opens the dialog that sends the requests of an operation. */
  tryOut(name: string): Promise<Locator>;
}

/** Opens the page in a window of its own. */
export async function openReference(browser: Browser, url: string, { width, scheme }: Look) {
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme: scheme });
  const page = await context.newPage();
  const requests: Request[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(url);
  await page.getByRole("heading", { name: "Authentication", level: 1 }).waitFor();

  const openSidebar = async () => {
    const menu = page.getByRole("button", { name: "Open Menu" });
    if (await menu.isVisible()) await menu.click();
    return page.getByRole("complementary");
  };
  const goTo = async (name: string) => {
    const sidebar = await openSidebar();
    await sidebar.getByRole("link", { name: new RegExp(`^${name}( HTTP|$)`) }).click();
    const part = page.getByRole("region", { name, exact: true });
    await part.waitFor();
    return part;
  };
  const tryOut = async (name: string) => {
    const part = await goTo(name);
    await part.getByRole("button", { name: "Try it" }).click();
    const dialog = page.getByRole("dialog", { name: "API Client" });
    await dialog.waitFor();
    return dialog;
  };
  return { page, requests, errors, openSidebar, goTo, tryOut } satisfies ReferencePage;
}

/** Sends the request of the dialog, and returns the response that the dialog shows. */
export async function send(dialog: Locator) {
  await dialog.getByRole("button", { name: /^Send (get|post) request/ }).click();
  const response = dialog.getByRole("region", { name: "Response", exact: true });
  const status = await response.getByRole("link", { name: /^\d{3} / }).innerText();
  const body = await response.getByRole("region", { name: "Body" }).locator(".cm-content").innerText();
  return { status: Number.parseInt(status, 10), body: JSON.parse(body) };
}

/** The editor of the request's body. */
export const bodyEditor = (dialog: Locator) =>
  dialog.getByRole("region", { name: "Request Body" }).locator(".cm-content");

/** How many pixels the document is wider than its window. */
export const overflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
