import { join } from "node:path";
import { Command } from "commander";
import { UserError } from "../errors.ts";
import { demoKey } from "./demo-key.ts";
import { type LocalRun, startLocal } from "./local-run.ts";
import { referencePages } from "./reference/reference.ts";
import { serveChanges } from "./watch.ts";

/** npm passes a Ctrl-C on to a process that had it from the terminal already: within this time, it is the same one. */
const sameSignal = 500;

interface Settings {
  readonly port: number;
  readonly dataDirectory: string;
  readonly dynamodbEndpoint: string | undefined;
  readonly eventsUrl: string | undefined;
}

/** `npm start`: runs the service until a signal ends it. */
export const startCommand = () =>
  new Command("npm start --")
    .description("Runs the API on this machine, with an embedded DynamoDB, until Ctrl-C.")
    .option("--watch", "bring changed sources to the functions, and start again when the stack changes")
    .addHelpText(
      "after",
      "\nPORT, DATA_DIR, EVENTS_URL and DYNAMODB_ENDPOINT in the environment are in the README.",
    )
    .action(({ watch = false }: { watch?: boolean }) => serve(readSettings(process.env), watch));

async function serve(settings: Settings, watch: boolean): Promise<void> {
  let run: LocalRun | undefined;
  stopOnSignals(() => run);
  console.log("Starting …");
  const key = Promise.withResolvers<string>();
  const pages = referencePages(key.promise);
  const options = { ...settings, pages, onEngineExit: () => engineDied(run) };
  run = await startLocal(options);
  const apiKey = await demoKey(settings.dataDirectory, run);
  key.resolve(apiKey);
  console.log(welcome(run, settings, apiKey));
  if (!watch) return;
  const port = Number(new URL(run.url).port);
  await serveChanges(run, async (old, templateDirectory) => {
    await old.stop();
    run = undefined;
    run = await startLocal({ ...options, port, templateDirectory });
    return run;
  });
}

async function engineDied(run: LocalRun | undefined): Promise<void> {
  console.error(
    "The embedded DynamoDB ended by itself, so this run ends too: start it again, its data are kept.",
  );
  await run?.stop();
  process.exit(1);
}

function readSettings({ PORT = "3000", DATA_DIR, ...env }: NodeJS.ProcessEnv): Settings {
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) {
    throw new UserError(`PORT=${PORT} must be a whole number from 0 to 65535.`);
  }
  return {
    port: Number(PORT),
    dataDirectory: DATA_DIR || join(import.meta.dirname, "../../.local"),
    dynamodbEndpoint: readUrl(env, "DYNAMODB_ENDPOINT", "http://127.0.0.1:8000"),
    eventsUrl: readUrl(env, "EVENTS_URL", "http://127.0.0.1:4000/events"),
  };
}

function readUrl(env: NodeJS.ProcessEnv, name: string, example: string): string | undefined {
  const { [name]: value } = env;
  if (value && !/^https?:$/.test(URL.parse(value)?.protocol ?? ""))
    throw new UserError(`${name}=${value} must be a URL, as ${example}.`);
  return value || undefined;
}

/** Ends the run at the first signal; while it is still starting, or at a second signal, the process at once. */
function stopOnSignals(running: () => LocalRun | undefined): void {
  let stoppedAt: number | undefined;
  const stop = async () => {
    if (stoppedAt !== undefined && performance.now() - stoppedAt < sameSignal) return;
    const run = running();
    if (!run || stoppedAt !== undefined) process.exit(130);
    stoppedAt = performance.now();
    console.log("Stopping …");
    await run.stop();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
  if (process.env.npm_lifecycle_event) onParentEnd(stop);
}

/** npm gives a signal to the shell between the two of us, which ends and passes nothing on. */
function onParentEnd(stop: () => void): void {
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    stop();
  }, 250);
}

function welcome(
  { url, dynamodbEndpoint }: LocalRun,
  { dataDirectory, ...settings }: Settings,
  apiKey: string,
): string {
  const database = settings.dynamodbEndpoint
    ? `The data are in the DynamoDB at ${dynamodbEndpoint}.`
    : `The data are in ${dataDirectory} and stay there; everything runs on this machine, nothing is on AWS.`;
  return `
The API is at ${url}. ${database}

The API key of the account demo:

  ${apiKey}

Read what the API can do, and try it: ${url}/docs

Create a lead, then list the leads:

  curl -X POST ${url}/api/v1/leads -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"name":"Ada Lovelace","email":"ada@example.com","source":"website"}'
  curl ${url}/api/v1/leads -H 'Authorization: Bearer ${apiKey}'

Ctrl-C stops it. A line a request follows: method, path, status, time, account, request id.
`;
}
