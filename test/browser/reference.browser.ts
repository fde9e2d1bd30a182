import type { Locator, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedRun, startBrowsedRun } from "./chromium.ts";

const guides = ["Authentication", "Pages and links", "Retries", "Limits", "Events", "Errors"];
const operations = ["List leads", "Create a lead", "List conversations", "Send a message"];
const events = [
  ...["A lead was created", "A conversation was started", "A message was sent", "A lead was erased"],
];

let run: BrowsedRun;
beforeAll(async () => {
  run = await startBrowsedRun();
});
afterAll(() => run?.stop());

/** Sends the request of the dialog, and returns the response that the dialog shows. */
async function send(dialog: Locator) {
  await dialog.getByRole("button", { name: /^Send (get|post) request/ }).click();
  const response = dialog.getByRole("region", { name: "Response", exact: true });
  const status = await response.getByRole("link", { name: /^\d{3} / }).innerText();
  const body = await response.getByRole("region", { name: "Body" }).locator(".cm-content").innerText();
  return { status: Number.parseInt(status, 10), body: JSON.parse(body) };
}

/** The editor of the request's body. */
const bodyEditor = (dialog: Locator) =>
  dialog.getByRole("region", { name: "Request Body" }).locator(".cm-content");

describe.each([
  { width: 1280, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
] as const)("at $width px, in the $colorScheme scheme", ({ width, colorScheme }) => {
  test("a reader finds every part, creates a lead, sends it a message, and sees what is wrong with one", async () => {
    const page = await run.browser.newPage({ viewport: { width, height: 860 }, colorScheme });
    const requests: Request[] = [];
    const errors: string[] = [];
    page.on("request", (request) => requests.push(request));
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(`${run.url}/`);
    await page.getByRole("heading", { name: "Authentication", level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/docs");
    const color = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    const [red = 0] = color.match(/\d+/g)?.map(Number) ?? [];
    expect(colorScheme === "dark" ? 255 - red : red).toBeGreaterThan(200);

    const openSidebar = async () => {
      const menu = page.getByRole("button", { name: "Open Menu" });
      if (await menu.isVisible()) await menu.click();
      return page.getByRole("complementary");
    };
    const links = (await openSidebar()).getByRole("link");
    await links.last().waitFor();
    expect((await links.allInnerTexts()).map((text) => text.split("\n")[0])).toEqual([
      ...["Introduction", ...guides],
      ...["Leads", ...operations.slice(0, 2), "Conversations", ...operations.slice(2)],
      ...["Events", ...events],
    ]);
    await page.keyboard.press("Escape");

    const goTo = async (name: string) => {
      const sidebar = await openSidebar();
      await sidebar.getByRole("link", { name: new RegExp(`^${name}( HTTP|$)`) }).click();
      const part = page.getByRole("region", { name, exact: true });
      await part.waitFor();
      expect(
        await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
      ).toBe(0);
      return part;
    };
    for (const name of events) await goTo(name);
    const tryOut = async (name: string) => {
      await (await goTo(name)).getByRole("button", { name: "Try it" }).click();
      const dialog = page.getByRole("dialog", { name: "API Client" });
      await dialog.waitFor();
      return dialog;
    };
    const close = (dialog: Locator) => dialog.getByRole("button", { name: "Close Client" }).click();

    const creating = await tryOut("Create a lead");
    const lead = await send(creating);
    expect(lead).toMatchObject({ status: 201, body: { name: "Ada Lovelace", status: "new" } });
    await close(creating);
    const listing = await tryOut("List leads");
    expect(await send(listing)).toMatchObject({ status: 200 });
    await close(listing);
    const sending = await tryOut("Send a message");
    expect(JSON.parse(await bodyEditor(sending).innerText())).toMatchObject({ leadId: lead.body.id });
    expect(await send(sending)).toMatchObject({ status: 201, body: { leadId: lead.body.id } });
    expect(errors).toEqual([]);

    await bodyEditor(sending).fill('{"leadId":"lead_1","channel":"whatsapp"}');
    const problem = await send(sending);
    expect(problem).toMatchObject({
      status: 400,
      body: { errors: [{ field: "message", code: "required" }] },
    });
    const foreign = requests.map((request) => request.url()).filter((url) => /^https?:/.test(url));
    expect(foreign.filter((url) => new URL(url).origin !== run.url)).toEqual([]);
    const apiRequests = requests.filter((request) => request.url().startsWith(`${run.url}/api/`));
    expect(new Set(apiRequests.map((request) => request.headers().authorization))).toEqual(
      new Set([`Bearer ${run.apiKey}`]),
    );
    await page.close();
  });
});

test("a page that cannot be shown says so", async () => {
  const page = await run.browser.newPage();
  await page.route(`${run.url}/docs/openapi.json`, (route) => route.fulfill({ status: 500 }));
  await page.goto(`${run.url}/docs`);
  await page
    .getByText("The reference cannot be shown: /docs/openapi.json returned 500. The terminal")
    .waitFor();
  await page.close();
});
