import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page, type Request } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signalProcess } from "../../lib/local/engine/engine-process.ts";
import { freePort, type StartedCommand, startCommand, untilServing } from "../lib/local/support/process.ts";
import { findChromium } from "./chromium.ts";

const screenshots = join(import.meta.dirname, "../../.build/screenshots");
let directory: string;
let url: string;
let command: StartedCommand;
let browser: Browser;
let page: Page;
const requested: Request[] = [];
const errors: string[] = [];

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
  page = await browser.newPage({ viewport: { width: 1200, height: 1400 } });
  page.on("request", (request) => requested.push(request));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(`${url}/docs`);
});
afterAll(async () => {
  await browser?.close();
  if (command) {
    signalProcess(command.pid, "SIGTERM");
    await command.ended;
  }
  if (directory) await rm(directory, { recursive: true });
});

const shoot = (name: string) => page.screenshot({ path: join(screenshots, `${name}.png`) });

const operation = (id: string) => page.locator(`.opblock[id$="-${id}"]`);

/** Sends an operation's request from the page and returns the response that the page shows. */
async function send(id: string, body?: object) {
  const block = operation(id);
  const summary = block.locator(".opblock-summary-control");
  await summary.click();
  if (body) await block.locator("textarea.body-param__text").fill(JSON.stringify(body));
  await block.getByRole("button", { name: "Execute" }).click();
  const live = block.locator(".live-responses-table .response");
  const status = await live.locator(".response-col_status").first().innerText();
  const text = await live.locator(".response-col_description .highlight-code code").first().innerText();
  await live.first().scrollIntoViewIfNeeded();
  await shoot(id);
  await summary.click();
  return { status: Number.parseInt(status, 10), body: JSON.parse(text) };
}

test("the page shows the four routes and the three events, with the demo key filled in", async () => {
  await operation("listLeads").waitFor();
  expect(await page.locator(".webhooks .opblock").count()).toBe(3);
  expect(await page.locator(".opblock").count()).toBe(4 + 3);
  await page.locator(".auth-wrapper .authorize.locked").click();
  await page.getByText("Authorized", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await shoot("page");
});

test("each route responds to a request from the page", async () => {
  const lead = await send("createLead");
  expect(lead).toMatchObject({ status: 201, body: { name: "Ada Lovelace", status: "new" } });
  const message = { leadId: lead.body.id, channel: "whatsapp", message: "Hello Ada" };
  const sent = await send("sendMessage", message);
  expect(sent).toMatchObject({ status: 201, body: message });
  expect(await send("listLeads")).toMatchObject({ status: 200, body: { data: [lead.body] } });
  expect(await send("listConversations")).toMatchObject({
    status: 200,
    body: { data: [{ id: sent.body.conversationId, messageCount: 1 }], pagination: { total: 1 } },
  });
});

test("the page used the demo key, logged no error and contacted no other host", async () => {
  const key = (await readFile(join(directory, "api-key"), "utf8")).trim();
  const urls = requested.map((request) => request.url());
  expect(
    urls.filter((requestUrl) => !requestUrl.startsWith(`${url}/`) && !requestUrl.startsWith("data:")),
  ).toEqual([]);
  const apiRequests = requested.filter((request) => request.url().startsWith(`${url}/api/`));
  expect(apiRequests.map((request) => request.headers().authorization)).toEqual(
    Array(4).fill(`Bearer ${key}`),
  );
  expect(errors).toEqual([]);
});
