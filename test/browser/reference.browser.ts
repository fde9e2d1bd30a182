import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  freePort,
  type StartedCommand,
  signalProcess,
  startCommand,
  untilServing,
} from "../lib/local/support/process.ts";
import { findChromium } from "./chromium.ts";
import {
  bodyEditor,
  type Look,
  openReference,
  overflow,
  type ReferencePage,
  send,
} from "./reference-page.ts";

const guides = ["Authentication", "Pages and links", "Retries", "Limits", "Events", "Errors"];
const operations = ["List leads", "Create a lead", "List conversations", "Send a message"];
const events = [
  "A lead was created",
  "A conversation was started",
  "A message was sent",
  "A lead was erased",
];

const wide: Look = { width: 1280, scheme: "light" };
const looks: readonly Look[] = [
  wide,
  { width: 1280, scheme: "dark" },
  { width: 390, scheme: "light" },
  { width: 390, scheme: "dark" },
];

const screenshots = join(import.meta.dirname, "../../.build/screenshots");
let directory: string;
let url: string;
let command: StartedCommand;
let browser: Browser;

beforeAll(async () => {
  const executablePath = findChromium(process.env);
  await mkdir(screenshots, { recursive: true });
  directory = await mkdtemp(join(tmpdir(), "browser-"));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  command = startCommand({ DATA_DIR: directory, PORT: String(port) });
  await untilServing(command);
  // Chromium's sandbox does not work for root.
  browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
});
afterAll(async () => {
  await browser?.close();
  if (command) {
    signalProcess(command.pid, "SIGTERM");
    await command.ended;
  }
  if (directory) await rm(directory, { recursive: true });
});

/** How bright the page's background is, from 0 to 255. */
const brightness = async (page: Page) => {
  const color = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const [red = 0, green = 0, blue = 0] = color.match(/\d+/g)?.map(Number) ?? [];
  return (red + green + blue) / 3;
};

test("without a lead, the page says what to do first", async () => {
  const { page, goTo } = await openReference(browser, url, wide);
  const part = await goTo("Send a message");
  expect(await part.getByText("Create a lead first.").count()).toBe(1);
  await page.context().close();
});

describe.each(looks)("at $width px, in the $scheme scheme", (look) => {
  let reference: ReferencePage;
  const shoot = (name: string) =>
    reference.page.screenshot({ path: join(screenshots, `${look.width}-${look.scheme}-${name}.png`) });

  beforeAll(async () => {
    reference = await openReference(browser, `${url}/`, look);
  });
  afterAll(() => reference?.page.context().close());

  test("the address of the service leads to the page, in the user's colours", async () => {
    const { page } = reference;
    expect([new URL(page.url()).pathname, await page.title()]).toEqual([
      "/docs",
      "Leads and Conversations API",
    ]);
    const bright = await brightness(page);
    expect(look.scheme === "dark" ? 255 - bright : bright).toBeGreaterThan(200);
    await shoot("1-start");
  });

  test("the sidebar has the guides, the four routes and the four events", async () => {
    const sidebar = await reference.openSidebar();
    const links = sidebar.getByRole("link");
    await links.last().waitFor();
    expect((await links.allInnerTexts()).map((text) => text.split("\n")[0])).toEqual([
      "Introduction",
      ...guides,
      ...["Leads", ...operations.slice(0, 2)],
      ...["Conversations", ...operations.slice(2)],
      ...["Events", ...events],
    ]);
    await shoot("2-sidebar");
    await sidebar.getByRole("link", { name: "Errors" }).click();
    expect(await reference.page.getByRole("cell", { name: "404 lead_not_found" }).isVisible()).toBe(true);
    await shoot("3-guide");
  });

  test.each([...operations, ...events])("%s is nowhere wider than the window", async (name) => {
    await reference.goTo(name);
    expect(await overflow(reference.page)).toBe(0);
    await shoot(name.replaceAll(" ", "-"));
  });

  test("an operation has code samples for curl, fetch and Python, and no others", async () => {
    const { page } = reference;
    const part = await reference.goTo("Create a lead");
    const sample = part.getByRole("group", { name: /^Request Example/ });
    const options = page.getByRole("option");
    await sample.getByRole("button", { name: "Shell Curl" }).click();
    await options.first().waitFor();
    expect(await options.allInnerTexts()).toEqual(["Fetch", "http.client", "Curl"]);
    const choose = async (name: string, code: RegExp) => {
      await page.getByRole("option", { name }).click();
      await sample.locator("code", { hasText: code }).waitFor();
      await sample.getByRole("button", { name }).first().click();
      await options.first().waitFor();
    };
    await choose("Fetch", /^fetch\('.+\/api\/v1\/leads', \{\s*method: 'POST'/);
    await choose("http.client", /^import http\.client/);
    await choose("Curl", /^curl .+\/api\/v1\/leads/);
    await page.keyboard.press("Escape");
  });

  test("a lead is created, and then a message is sent to it", async () => {
    const { page } = reference;
    const creation = await reference.tryOut("Create a lead");
    const lead = await send(creation);
    expect(lead).toMatchObject({ status: 201, body: { name: "Ada Lovelace", status: "new" } });
    expect(await overflow(page)).toBe(0);
    await shoot("5-lead");
    await creation.getByRole("button", { name: "Close Client" }).click();

    const sending = await reference.tryOut("Send a message");
    expect(JSON.parse(await bodyEditor(sending).innerText())).toMatchObject({ leadId: lead.body.id });
    const message = await send(sending);
    expect(message).toMatchObject({ status: 201, body: { leadId: lead.body.id, message: "Hello Ada" } });
    expect(await overflow(page)).toBe(0);
    await shoot("6-message");
    await sending.getByRole("button", { name: "Close Client" }).click();
  });

  test("a list is read without filters", async () => {
    const dialog = await reference.tryOut("List leads");
    const { status, body } = await send(dialog);
    expect(status).toBe(200);
    expect(body.pagination.total).toBeGreaterThan(0);
    await dialog.getByRole("button", { name: "Close Client" }).click();
  });

  test("the page used the demo key, logged no error and contacted no other host", async () => {
    const key = (await readFile(join(directory, "api-key"), "utf8")).trim();
    const { requests, errors } = reference;
    const foreign = requests.filter(
      (request) => !/^data:|^blob:/.test(request.url()) && new URL(request.url()).origin !== url,
    );
    expect(foreign.map((request) => request.url())).toEqual([]);
    const apiRequests = requests.filter((request) => request.url().startsWith(`${url}/api/`));
    // The newest lead, and the three requests of the tests before.
    expect(apiRequests.map((request) => request.headers().authorization)).toEqual(
      Array(4).fill(`Bearer ${key}`),
    );
    expect(errors).toEqual([]);
  });
});

test("the newest lead is filled in when the page is opened, also in the code sample", async () => {
  const authorization = `Bearer ${(await readFile(join(directory, "api-key"), "utf8")).trim()}`;
  const response = await fetch(`${url}/api/v1/leads`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ name: "Grace Hopper" }),
  });
  const { id } = (await response.json()) as { id: string };
  const { page, goTo } = await openReference(browser, `${url}/docs`, wide);
  const part = await goTo("Send a message");
  expect(await part.getByText("that of the newest lead of the account").count()).toBe(1);
  expect(await part.getByRole("group", { name: /^Request Example/ }).innerText()).toContain(id);
  await page.context().close();
});

test("a page that cannot be shown says so", async () => {
  const page = await browser.newPage();
  await page.route(`${url}/docs/openapi.json`, (route) => route.fulfill({ status: 500 }));
  await page.goto(`${url}/docs`);
  await page
    .getByText("The reference cannot be shown: /docs/openapi.json returned 500. The terminal")
    .waitFor();
  await page.close();
});

test.each([390, 1280])("at %d px, an error shows its problem", async (width) => {
  const { page, tryOut } = await openReference(browser, `${url}/docs`, { width, scheme: "light" });
  const dialog = await tryOut("Send a message");
  await bodyEditor(dialog).fill('{"leadId":"lead_1","channel":"whatsapp"}');
  const problem = await send(dialog);
  expect(problem).toMatchObject({ status: 400, body: { errors: [{ field: "message", code: "required" }] } });
  await page.screenshot({ path: join(screenshots, `${width}-problem.png`) });
  await page.context().close();
});

test("the page is used with the keyboard, and shows the focus", async () => {
  const { page } = await openReference(browser, `${url}/docs`, wide);
  for (let steps = 0; steps < 12; steps++) {
    await page.keyboard.press("Tab");
    const outline = await page.evaluate<string>("getComputedStyle(document.activeElement).outline");
    expect(outline).toMatch(/solid 2px/);
  }
  await page.keyboard.press("Control+k");
  await page.keyboard.type("Send a message");
  await page
    .getByRole("option", { name: /Send a message/ })
    .first()
    .waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Send a message", exact: true }).waitFor();
  await page.context().close();
});

test("no link of the page leads to another site, but to the specification of problems", async () => {
  const { page } = await openReference(browser, `${url}/docs`, wide);
  const links = await page
    .locator("a[href^=http]:visible")
    .evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  expect(links).toEqual(["https://www.rfc-editor.org/rfc/rfc9457"]);
  await page.context().close();
});
