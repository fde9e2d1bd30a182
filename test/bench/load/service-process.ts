/**
 * Runs the service in a process of its own, as `npm start` does, with an empty data directory and the given context.
 *
 * It sends a message when it accepts requests, and then executes the commands that it receives.
 *
 * Usage: fork with the context as JSON and the file of the log
 */
import { createWriteStream, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selectEngineTable } from "../../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../../lib/local/local-run.ts";
import { synthesize } from "../../../lib/local/synthesize.ts";
import { readStack } from "../../../lib/local/template/template.ts";
import { issueApiKey } from "../../../lib/ops/changes/api-key-changes.ts";
import { measureWorkers } from "./heap.ts";
import type { Command, Outcomes } from "./service.ts";

const [, , context = "{}", logFile = ""] = process.argv;
// Signals reach the benchmark too. When it ends, this process exits normally, and its engine with it.
process.once("disconnect", () => process.exit());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

const log = createWriteStream(logFile);
const directory = await mkdtemp(join(tmpdir(), "bench-load-"));
process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
const templateDirectory = await synthesize(join(directory, "stack"), {
  context: JSON.parse(context) as Record<string, unknown>,
});
const { functions } = await readStack(templateDirectory);
const run = await startLocal({
  templateDirectory,
  dataDirectory: join(directory, "data"),
  log: (line) => log.write(`${line}\n`),
  onEngineExit: () => process.exit(1),
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
