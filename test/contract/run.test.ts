import { execFile } from "node:child_process";
import { cpSync, globSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { listening } from "../support/requests/listening.ts";
import { temporaryDirectory } from "../support/stack/temporary-directory.ts";

/** A copy of the suite outside of the project, for somebody who has nothing else: it cannot import anything but Node.js. */
const copy = await temporaryDirectory("contract-", afterAll);
const files = globSync("{*.ts,checks/*.ts}", { cwd: import.meta.dirname, exclude: ["*.test.ts"] });
for (const file of files) cpSync(join(import.meta.dirname, file), join(copy, file));

/** Runs the suite. @returns its exit code and what it printed */
function run(args: readonly string[]): Promise<{ code: unknown; printed: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(copy, "run.ts"), ...args], { cwd: copy }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, printed: stdout + stderr }),
    );
  });
}

/** Serves wrong responses until the test ends. @returns the address */
function serve(listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => listener(request, response));
  });
  onTestFinished(() => void server.close().closeAllConnections());
  return listening(server);
}

const keys = ["--key", "one", "--other-key", "two"];
const emptyPage = JSON.stringify({ data: [], pagination: { page: 1, limit: 20, total: 0 } });

test("the report on a service that stores nothing names each promise that fails", async () => {
  const url = await serve((_, response) => void response.end(emptyPage));
  const { code, printed } = await run(["--url", url, ...keys]);
  expect(code).toBe(1);
  expect(printed).toMatch(/^FAILED {2}A new lead is returned with 201 .*\(README\.md#first-requests\)$/m);
  expect(printed).toMatch(/^ {8}expected \{"status":201,.*\n {8}seen {5}\{"status":200,/m);
  expect(printed).toMatch(/^skipped A key that may only read can list .*\n {8}needs --read-only-key$/m);
  expect(printed).toMatch(/^\d+ ok, \d+ failed, \d+ skipped in \d/m);
});

test.each([
  [[], "--url is missing."],
  [["--url", "http://127.0.0.1:1", "--key", "one"], "--other-key is missing."],
  [["--url", "127.0.0.1", ...keys], "--url must be an address such as http://127.0.0.1:3000, not 127.0.0.1."],
  [["--url", "http://127.0.0.1:1", ...keys], "http://127.0.0.1:1 does not respond"],
  [["--urls"], "Unknown option '--urls'"],
])("the arguments %j end the run with a message and the exit code 2", async (args, message) => {
  const { code, printed } = await run(args);
  expect(printed).toContain(message);
  expect(code).toBe(2);
});

test("a refused key ends the run with a message and the exit code 2", async () => {
  const url = await serve((_, response) => void response.writeHead(403).end());
  const { code, printed } = await run(["--url", url, ...keys]);
  expect(printed).toContain("refuses --key with 403.");
  expect(code).toBe(2);
});
