import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { findApiKey } from "../../shared/domain/api-keys.ts";
import { parseStage } from "../ops/command/command.ts";
import { issueApiKey } from "../ops/keys/api-key-changes.ts";
import { selectEngineTable } from "./engine/dynamodb-client.ts";
import { readFaults } from "./iam/faults.ts";
import { type LocalRun, startLocal } from "./local-run.ts";
import { referencePages } from "./reference/reference.ts";

type StartSettings = ReturnType<typeof readStartSettings> & { readonly verbose: boolean };

/** `npm start`: runs the service until a signal ends it. */
export const startCommand = () =>
  new Command("npm start --")
    .description("Runs the API on this machine, with an embedded DynamoDB, until Ctrl-C.")
    .option("--stage <name>", "the stage whose settings to run with", parseStage, "dev")
    .option("--verbose", "also log what the functions print, and all frames of errors", false)
    .addHelpText(
      "after",
      "\ndocs/configuration.md describes the environment variables PORT, DATA_DIR, EVENTS_URL, GRAPH_URL, FAULTS and DYNAMODB_ENDPOINT.",
    )
    .action(({ stage, verbose }: { stage: string; verbose: boolean }) =>
      serve({ ...readStartSettings(stage, process.env), verbose }),
    );

async function serve(settings: StartSettings): Promise<void> {
  console.log("Starting …");
  const key = Promise.withResolvers<string>();
  const run = await startLocal({
    ...settings,
    webPages: referencePages(key.promise),
    environment: { LOG_ERROR_MESSAGES: "true", ...(settings.graphUrl && { GRAPH_URL: settings.graphUrl }) },
  });
  const apiKey = await prepareDemoKey(settings.dataDirectory, run);
  key.resolve(apiKey);
  console.log(welcome(run, settings, apiKey));
}

function readStartSettings(stage: string, { PORT, DATA_DIR, ...env }: NodeJS.ProcessEnv) {
  // Each stage has its own table, demo key, positions in the stream and queue.
  const directory = stage === "dev" ? ".local" : `.local/stages/${stage}`;
  return {
    stage,
    port: Number(PORT || 3000),
    faults: env.FAULTS ? readFaults(env.FAULTS) : undefined,
    dataDirectory: DATA_DIR || join(import.meta.dirname, "../..", directory),
    dynamodbEndpoint: env.DYNAMODB_ENDPOINT,
    graphUrl: env.GRAPH_URL,
    eventsUrl: env.EVENTS_URL,
  };
}

function welcome(
  { url, dynamodbEndpoint }: LocalRun,
  { dataDirectory, stage, ...settings }: StartSettings,
  apiKey: string,
): string {
  const database = settings.dynamodbEndpoint
    ? `Its data is in the DynamoDB at ${dynamodbEndpoint}.`
    : `Its data is kept in ${dataDirectory}; everything runs on this machine and nothing on AWS.`;
  return `
The API is at ${url}, with the settings of stages/${stage}.json. ${database}

The API key of the account demo:

  ${apiKey}

Read the reference and try the API: ${url}/docs
Read and answer messages: ${url}/inbox

Create a lead, then list the leads:

  curl -X POST ${url}/api/v1/leads -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"name":"Ada Lovelace","email":"ada@example.com","source":"website"}'
  curl ${url}/api/v1/leads -H 'Authorization: Bearer ${apiKey}'

Ctrl-C stops it. Each request is logged on one line: method, path, status, time, account, request id, and why the gateway refused it.
`;
}

const demoAccount = "demo";

/** Returns an API key of the account `demo`: the one in the data directory if it is still valid, otherwise a new one. */
export async function prepareDemoKey(
  directory: string,
  { dynamodbEndpoint, tableName }: LocalRun,
): Promise<string> {
  selectEngineTable(dynamodbEndpoint, tableName);
  const file = join(directory, "api-key");
  const saved = await readFile(file, "utf8").catch(() => "");
  const found = await findApiKey(saved.trim());
  if (typeof found === "object" && found.accountId === demoAccount) return saved.trim();
  const { apiKey } = await issueApiKey(demoAccount, { label: "npm start" });
  await writeFile(file, `${apiKey}\n`, { mode: 0o600 });
  return apiKey;
}
