import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { freePort, signalProcess, startCommand, untilServing } from "../lib/local/support/process.ts";
import { findChromium } from "./reference-page.ts";

export const screenshots = join(import.meta.dirname, "../../.build/screenshots");

/** Starts `npm start`, with data of its own, and a browser. */
export async function startLocalRun() {
  const executablePath = findChromium(process.env);
  await mkdir(screenshots, { recursive: true });
  await using starting = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "browser-"));
  starting.defer(() => rm(directory, { recursive: true }));
  const port = await freePort();
  const command = startCommand({ DATA_DIR: directory, PORT: String(port) });
  starting.defer(async () => {
    signalProcess(command.pid, "SIGTERM");
    await command.ended;
  });
  await untilServing(command);
  // Chromium's sandbox does not work for root.
  const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  starting.defer(() => browser.close());
  const key = (await readFile(join(directory, "api-key"), "utf8")).trim();
  const resources = starting.move();
  return { url: `http://127.0.0.1:${port}`, key, browser, stop: () => resources.disposeAsync() };
}
