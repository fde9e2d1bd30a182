import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import {
  contrastFaults,
  type Look,
  looks,
  openPage,
  overflow,
  screenshots,
  startLocalRun,
} from "./local-run.ts";

/** The parts of the page that are read: operations, events and guides. */
const parts = [
  ...["List leads", "Create or update a lead", "List conversations", "Send or update a message"],
  ...["A lead was created", "A conversation was started", "A message was sent", "A message was changed"],
  ...["Lists and filters", "Update a lead", "Messages", "An inbox", "What the API does not do", "Errors"],
];

const { url, key, browser } = await startLocalRun();

/** Opens the reference in a window of its own. `errors` has what it logs as an error or throws. */
async function openReference(look: Look, path = "/docs") {
  const page = await openPage(browser, look);
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(url + path);
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
    await part.getByRole("button", { name: "Test Request" }).click();
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
const bodyEditor = (dialog: Locator) =>
  dialog.getByRole("region", { name: "Request Body" }).locator(".cm-content");

/** The samples of guides that are wider than their visible part. */
const cutSamples = (page: Page) =>
  page.evaluate<string[]>(
    '[...document.querySelectorAll(".markdown pre, .markdown pre code")].filter((sample) => sample.scrollWidth > sample.clientWidth).map(({ innerText }) => innerText)',
  );

test("the search finds the guides by their words", async () => {
  const { page } = await openReference({ width: 1280, scheme: "light" });
  for (const [words, guide] of [
    ["surrogate", "Errors"],
    ["Idempotency-Replayed", "Retries"],
    ["connector delivers", "Deliver and report"],
    ["429", "Limits and 429"],
    ["PATCH", "Update a lead"],
    ["stop limit total", "Read everything"],
  ] as const) {
    await page.keyboard.press("Control+k");
    const search = page.getByRole("dialog", { name: "Search" });
    await search.getByRole("combobox").fill(words);
    const found = search.getByRole("option");
    const place = words === "429" ? found.first() : found;
    await place.filter({ hasText: new RegExp(`Tag:\\s+${guide}`) }).click();
    await expect
      .poll(() => new URL(page.url()).hash)
      .toBe(`#tag/${guide.toLowerCase().replaceAll(" ", "-")}`);
  }
});

test("the first screen has a request to paste, and links lead to guides and operations, which get no frame", async () => {
  const { page } = await openReference({ width: 390, scheme: "light" });
  const sample = page.locator(".markdown pre").first();
  expect(await sample.innerText()).toMatch(new RegExp(`^curl ${url}/.*Bearer ${key}'`, "s"));
  const { y = 0, height = 0 } = (await sample.boundingBox()) ?? {};
  expect(y + height).toBeLessThan(page.viewportSize()?.height ?? 0);
  const follow = async (name: string, hash: string) => {
    await page.getByRole("link", { name, exact: true }).first().click();
    await expect.poll(() => new URL(page.url()).hash).toBe(hash);
  };
  await follow("a message", "#tag/messages");
  await follow("POST /api/v1/conversations", "#tag/conversations/POST/api/v1/conversations");
  await page.goto(`${url}/docs#tag/leads/POST/api/v1/leads`);
  await page.reload();
  const part = page.locator("section:focus");
  expect(await part.getByRole("heading").first().innerText()).toContain("Create or update a lead");
  expect(await part.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("none");
  expect(await part.locator(".response-card .tab").first().innerText()).toContain("201");
  expect(await part.innerText()).toMatch(
    /Body\s.*NewLead\s+required\s+application.json\s+name\s[^.]*?\srequired\s/,
  );
});

test.each(
  looks,
)("at $width px, in the $scheme scheme, every part fits, routes are tried with the key, and no other host is contacted", async (look) => {
  const { page, requests, errors, goTo, send, close } = await openReference(look, "/");
  const shoot = (name: string) =>
    page.screenshot({ path: join(screenshots, `${look.width}-${look.scheme}-${name}.png`) });
  expect(new URL(page.url()).pathname).toBe("/docs");
  const color = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const [red = 0] = color.match(/\d+/g)?.map(Number) ?? [];
  expect(look.scheme === "dark" ? 255 - red : red).toBeGreaterThan(200);
  await shoot("start");
  for (const name of parts) {
    await goTo(name);
    expect([name, await overflow(page), await contrastFaults(page)]).toEqual([name, 0, []]);
    expect(await cutSamples(page)).toEqual([]);
    await shoot(name.replaceAll(" ", "-"));
  }

  // As the page shows it, and not for the first time.
  const lead = await send("Create or update a lead");
  expect(lead).toMatchObject({ status: 201, body: { name: "Ada Lovelace" }, width: 0 });
  expect(await contrastFaults(page)).toEqual([]);
  await shoot("lead");
  await close();
  // The page fills in the lead.
  const message = await send("Send or update a message");
  expect(message).toMatchObject({ status: 201, body: { leadId: lead.body.id }, width: 0 });
  await shoot("message");
  await close();
  const { status, body } = await send("List leads");
  expect([status, body.pagination.total > 0]).toEqual([200, true]);
  // No parameter is sent until the reader turns it on. The page itself reads the newest lead.
  expect(requests.filter((one) => /v1\/\w+\?(?!limit=1$)/.test(one))).toEqual([]);
  const hosts = requests.filter((one) => !/^data:|^blob:/.test(one)).map((one) => new URL(one).origin);
  expect([...new Set(hosts)]).toEqual([url]);
  expect(errors).toEqual([]);
});

test("an error shows its problem", async () => {
  const { page, send } = await openReference({ width: 390, scheme: "light" });
  const problem = await send("Send or update a message", (dialog) =>
    bodyEditor(dialog).fill('{"leadId":"lead_1","channel":"whatsapp"}'),
  );
  expect(problem).toMatchObject({ status: 400, body: { errors: [{ field: "message", code: "required" }] } });
  await page.screenshot({ path: join(screenshots, "390-problem.png") });
});

test("a page that cannot be shown says so", async () => {
  const page = await browser.newPage();
  await page.route(`${url}/docs/page.json`, (route) => route.fulfill({ status: 500 }));
  await page.goto(`${url}/docs`);
  await page.getByText("The reference cannot be shown: /docs/page.json returned 500. The terminal").waitFor();
  await page.close();
});
