import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { screenshots, startLocalRun } from "./local-run.ts";
import { bodyEditor, contrastFaults, cutSamples, looks, openReference, overflow } from "./reference-page.ts";

/** The parts of the page that are read: operations, events and guides. */
const parts = [
  ...["List leads", "Create or update a lead", "List conversations", "Send or update a message"],
  ...["A lead was created", "A conversation was started", "A message was sent", "A message was changed"],
  ...["Lists and filters", "Update a lead", "Messages", "An inbox", "What the API does not do", "Errors"],
];

let run: Awaited<ReturnType<typeof startLocalRun>>;
let url: string;
let browser: Browser;

beforeAll(async () => {
  run = await startLocalRun();
  ({ url, browser } = run);
});
afterAll(() => run?.stop());

test("the search finds the guides by their words", async () => {
  const { page } = await openReference(browser, `${url}/docs`, { width: 1280, scheme: "light" });
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
  await page.context().close();
});

test("the first screen has a request to paste, and links lead to guides and operations, which get no frame", async () => {
  const { page } = await openReference(browser, `${url}/docs`, { width: 390, scheme: "light" });
  const sample = page.locator(".markdown pre").first();
  expect(await sample.innerText()).toMatch(new RegExp(`^curl ${url}/.*Bearer ${run.key}'`, "s"));
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
  await page.context().close();
});

test("without a lead, the page says what to do first", async () => {
  const { page, goTo } = await openReference(browser, url, { width: 1280, scheme: "light" });
  const part = await goTo("Send or update a message");
  expect(await part.getByText("Create a lead first.").count()).toBe(1);
  await page.context().close();
});

test.each(
  looks,
)("at $width px, in the $scheme scheme, every part fits, routes are tried with the key, and no other host is contacted", async (look) => {
  const { page, requests, errors, goTo, send, close } = await openReference(browser, `${url}/`, look);
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
  const hosts = requests.filter((one) => !/^data:|^blob:/.test(one)).map((one) => new URL(one).origin);
  expect([...new Set(hosts)]).toEqual([url]);
  expect(errors).toEqual([]);
  await page.context().close();
});

test("the page fills in the newest lead, and an error shows its problem", async () => {
  const { page, goTo, send } = await openReference(browser, `${url}/docs`, { width: 390, scheme: "light" });
  const part = await goTo("Send or update a message");
  await part.getByText("that of the newest lead of the account").waitFor();
  const problem = await send("Send or update a message", (dialog) =>
    bodyEditor(dialog).fill('{"leadId":"lead_1","channel":"whatsapp"}'),
  );
  expect(problem).toMatchObject({ status: 400, body: { errors: [{ field: "message", code: "required" }] } });
  await page.screenshot({ path: join(screenshots, "390-problem.png") });
  await page.context().close();
});

test("a page that cannot be shown says so", async () => {
  const page = await browser.newPage();
  await page.route(`${url}/docs/page.json`, (route) => route.fulfill({ status: 500 }));
  await page.goto(`${url}/docs`);
  await page.getByText("The reference cannot be shown: /docs/page.json returned 500. The terminal").waitFor();
  await page.close();
});
