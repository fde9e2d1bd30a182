import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { afterAll, expect, inject, test, vi } from "vitest";
import { defaults } from "../../lib/config/settings.ts";
import { accountKey } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../support/cases/skipped-waits.ts";
import { createDataDirectory } from "../support/commands/data-directory.ts";
import { startApi } from "../support/requests/api.ts";
import { synthesizeAssembly } from "../support/stack/assembly.ts";
import { temporaryDirectory } from "../support/stack/temporary-directory.ts";
import { put, tableItems } from "../support/tables/table-items.ts";
import { accept, phases } from "./acceptance.ts";
import { open } from "./open.ts";
import type { Report } from "./report.ts";

/** The run must not wait a minute for a cache, and a quiet machine must be able to exceed the throttle. */
const settings = { authorizerCacheSeconds: 2, throttleRate: 150, throttleBurst: 150 };

const directory = await temporaryDirectory("acceptance-", afterAll);
await synthesizeAssembly({
  outdir: directory,
  tableName: String(process.env.TABLE_NAME),
  settings,
  bundles: join(inject("engine").assembly, "bundles"),
});
const api = await startApi({
  templateDirectory: directory,
  streams: true,
  maxEnvironments: 4,
});
/** An item of an account that the run must not touch. */
await put({ ...accountKey("neighbour"), createdAt: "2026-01-01T00:00:00.000Z" });
const isNeighbour = ({ pk }: Item) => String(pk).endsWith("#neighbour");
const DATA_DIR = await createDataDirectory(process.env.TABLE_NAME, api.url);

const report = await acceptLocal();

async function acceptLocal(): Promise<Report> {
  vi.stubEnv("DATA_DIR", DATA_DIR);
  // Only writes to a list during its erasure would need the whole wait.
  using _ = skipWaits((milliseconds) => setTimeout(Math.min(milliseconds, 5000)));
  const control = {
    signal: new AbortController().signal,
    note: () => {},
    load: 100,
  };
  const acceptance = await open({ local: true }, control);
  // Awaited here: the waits are skipped until this function ends.
  return await accept(
    { ...acceptance, settings: { ...defaults, ...acceptance.settings, ...settings } },
    phases,
  );
}

/**
 * What the local run cannot check, by the beginning of the reason. A busy machine sends too slowly for the throttle.
 */
const notSeen = /^(?:the local run has no AWS|\d+ requests from one machine)/;

/** Checks of how soon rows are counted and listed: any time passes, because a busy machine must not fail a test. */
const timed = ["docs/assumptions.md#counting-lag", "docs/assumptions.md#index-lag"];

test.each(report.findings)("$phase: $check ($page)", ({ page, verdict, expected, seen }) => {
  if (timed.includes(page)) return expect(seen).toMatch(/^\d/);
  if (verdict === "not seen") expect(seen).toMatch(notSeen);
  else expect([verdict, seen]).toEqual(["as assumed", verdict === "as assumed" ? seen : expected]);
});

test("every promise is checked, and the accounts leave only items that expire", async () => {
  expect(report.findings.filter(({ phase }) => phase === "contract").length).toBeGreaterThan(105);
  expect(report.ended).toBeUndefined();
  await expectErased();
});

test("the items of other accounts are left alone", async () => {
  expect([...(await tableItems()).values()].filter(isNeighbour)).toHaveLength(1);
});

/** Expects all accounts except the neighbour to have only items that expire: idempotency records, rates and counts. */
async function expectErased() {
  const items = [...(await tableItems()).values()].filter((item) => !isNeighbour(item));
  const types = new Set(items.map(({ pk }) => String(pk).split("#")[0]));
  for (const type of types) expect(["IDEMPOTENCY", "RATE", "COUNT"]).toContain(type);
  expect(items.filter(({ expiresAt }) => !expiresAt)).toEqual([]);
}

/** Runs the command in its own directory. With a signal, the command is ended when it has begun. */
async function runCommand(args: readonly string[], signal?: NodeJS.Signals) {
  const cwd = await mkdtemp(join(directory, "run-"));
  const program = join(import.meta.dirname, "run.ts");
  const running = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...process.env, DATA_DIR },
  });
  if (signal) running.stderr.once("data", () => running.kill(signal));
  const [[code], stdout, stderr] = await Promise.all([
    once(running, "exit"),
    text(running.stdout),
    text(running.stderr),
  ]);
  return { code, stdout, stderr, cwd, files: (await readdir(cwd)).sort() };
}

test("after Ctrl-C, the report is written and the accounts are erased", async () => {
  const { code, stdout, stderr, cwd, files } = await runCommand(["--local", "--quick"], "SIGINT");
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("Taking back what was made") });
  expect(stdout).toContain("It was ended before all was checked.");
  expect(files).toEqual([expect.stringMatching(/^accept-local-.+\.json$/)]);
  const written: Report = JSON.parse(await readFile(join(cwd, files[0] ?? ""), "utf8"));
  expect(written.findings.at(-1)?.verdict).toBe("not seen");
  await expectErased();
});

test("without a stage, the command is refused with a sentence", async () => {
  const { code, stderr, files } = await runCommand([]);
  const sentence = "Name what to accept: --stage NAME or --local.";
  expect({ code, stderr, files }).toEqual({ code: 1, stderr: expect.stringContaining(sentence), files: [] });
});
