import { execFile } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { listening } from "../support/listening.ts";

/** The suite outside of the project, as somebody may run it who has nothing else. */
const copy = mkdtempSync(join(tmpdir(), "contract-"));
afterAll(() => rmSync(copy, { recursive: true }));
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

const keys = ["--key", "one", "--other-key", "two"];
const emptyPage = JSON.stringify({ data: [], pagination: { page: 1, limit: 20, total: 0 } });

test("a service that stores nothing fails by the names of its promises", async () => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end(emptyPage));
  });
  onTestFinished(() => void server.close().closeAllConnections());
  const url = await listening(server);
  const { code, printed } = await run(["--url", url, ...keys]);
  expect(code).toBe(1);
  expect(printed).toMatch(/^FAILED {2}A new lead is returned with 201 .*\(README\.md#first-requests\)$/m);
  expect(printed).toMatch(/^ {8}expected \{"status":201,.*\n {8}seen {5}\{"status":200,/m);
  expect(printed).toMatch(/^skipped A key that may only read lists .*\n {8}needs --read-only-key$/m);
  expect(printed).toMatch(/^\d+ ok, \d+ failed, \d+ skipped in \d/m);
});

test.each([
  [[], 2],
  [["--url", "http://127.0.0.1:1", "--key", "one"], 2],
  [["--url", "nowhere", ...keys], 2],
  [["--urls"], 2],
  [["--help"], 0],
])("%j shows how it is used, and exits with %i", async (args, status) => {
  const { code, printed } = await run(args);
  expect(printed).toContain("node run.ts --url <address> --key <API key> --other-key <API key>");
  expect(code).toBe(status);
});

test("the suite imports nothing but Node.js and itself", () => {
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) {
    const imports = readFileSync(join(copy, file), "utf8").matchAll(/(?:from|import\() ?"([^"]+)"/g);
    for (const [, path = ""] of imports)
      expect(path, file).toMatch(/^node:|^\.\/[\w/-]+\.ts$|^\.\.\/[\w-]+\.ts$/);
  }
});
