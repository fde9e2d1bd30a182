/**
 * Runs the service in a process of its own, as `npm start` does, with an empty data directory and the given settings.
 *
 * It sends a message when it accepts requests, and then executes the commands that it receives.
 *
 * Usage: fork with the settings as JSON and the file of the log
 */
import { execFileSync } from "node:child_process";
import { createWriteStream, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selectEngineTable } from "../../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../../lib/local/local-run.ts";
import { readStack } from "../../../lib/local/template/template.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { measureWorkers } from "./heap.ts";
import type { Command, Outcomes } from "./service.ts";

const [, , settings = "{}", logFile = ""] = process.argv;
// Signals reach the benchmark too. When it ends, this process exits normally, and its engine with it.
process.once("disconnect", () => process.exit());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

const log = createWriteStream(logFile);
const directory = await mkdtemp(join(tmpdir(), "bench-load-"));
process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
const templateDirectory = join(directory, "stack");
const stack = { outdir: templateDirectory, tableName: "bench", settings: JSON.parse(settings) as object };
const assembly = new URL("../../support/assembly.ts", import.meta.url);
const script = `import { synthesizeAssembly } from "${assembly}"; await synthesizeAssembly(${JSON.stringify(stack)});`;
// In a process of its own, because this one's memory is measured.
execFileSync(process.execPath, ["--input-type=module", "--eval", script]);
const { functions } = await readStack(templateDirectory);
const options = { log: (line: string) => log.write(`${line}\n`), onEngineExit: () => process.exit(1) };
const run = await startLocal({
  templateDirectory,
  dataDirectory: join(directory, "data"),
  ...options,
});
selectEngineTable(run.dynamodbEndpoint, run.tableName);

const labels = new Map(functions.map(({ name, label }) => [name, label]));
const commands: { [Name in keyof Outcomes]: (account: string) => Promise<Outcomes[Name]> } = {
  key: async (account) => (await issueApiKey(account)).apiKey,
  heap: async () =>
    (await measureWorkers()).map(({ name, ...heap }) => ({ ...heap, name: labels.get(name) ?? name })),
  stop: run.stop,
};
process.on("message", async ({ name, account = "" }: Command) =>
  process.send?.({ outcome: await commands[name](account) }),
);
process.send?.({ outcome: run.url });
