import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDataDirectory } from "./engine/data-directory.ts";
import { engineClient, signAs } from "./engine/dynamodb-client.ts";
import { startEngine } from "./engine/engine.ts";
import { ensureTable } from "./engine/table-setup.ts";
import { listen, type Pages, startGateway } from "./gateway/gateway.ts";
import { startFunctions } from "./lambda/lambda-functions.ts";
import { startStreams } from "./streams/streams.ts";
import { synthesize } from "./synthesize.ts";
import { readStack } from "./template/template.ts";

interface LocalOptions {
  /** Where data are kept from one run to the next; without it they are in memory. */
  readonly dataDirectory?: string | undefined;
  /** Another engine than the embedded one. */
  readonly dynamodbEndpoint?: string | undefined;
  /** 0, the default, for any free one. */
  readonly port?: number;
  /** A cloud assembly to serve; without it the stack is synthesized. */
  readonly templateDirectory?: string | undefined;
  /** How many requests each function serves at once; more wait. */
  readonly maxEnvironments?: number;
  /** Whether the stage's throttle holds, as it does by default. */
  readonly throttling?: boolean;
  /** Whether the table's stream feeds the functions and the pipes that it is the source of, as it does by default. */
  readonly streams?: boolean;
  /** Where the events of the pipes are posted; without it, the log alone tells of them. */
  readonly eventsUrl?: string | undefined;
  /** What is served beside the API. */
  readonly pages?: Pages;
  readonly log?: (line: string) => void;
  /** Called when the engine ends and nobody stopped it. */
  readonly onEngineExit?: () => void;
}

/** A running service. */
export interface LocalRun {
  readonly url: string;
  /** The engine itself, for whoever has no role. */
  readonly dynamodbEndpoint: string;
  readonly tableName: string;
  /** The cloud assembly that is served. */
  readonly templateDirectory: string;
  /** Serves by the functions' code in another directory, a folder of it for each. */
  reload(bundles: string): void;
  stop(): Promise<void>;
}

/** As many as AWS gives a new account; an environment that has loaded the AWS SDK holds some 30 MB. */
const defaultMaxEnvironments = 10;

type Log = (line: string) => void;

/** What is to be undone at the end, the last one first. */
type Undo = (() => unknown)[];

/** Starts the whole service on this machine, as its template describes it. */
export async function startLocal(options: LocalOptions = {}): Promise<LocalRun> {
  const undo: Undo = [];
  const undoAll = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  let stopping: Promise<void> | undefined;
  // Whoever asks waits for the same end.
  const stop = () => {
    stopping ??= undoAll();
    return stopping;
  };
  try {
    return { ...(await start(options, undo)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(options: LocalOptions, undo: Undo): Promise<Omit<LocalRun, "stop">> {
  const {
    log = console.log,
    port = 0,
    throttling = true,
    maxEnvironments = defaultMaxEnvironments,
  } = options;
  const data =
    options.dataDirectory === undefined ? undefined : await openDataDirectory(options.dataDirectory);
  if (data) undo.push(data.close);
  await checkPort(port);
  const endpoint = options.dynamodbEndpoint ?? (await startEmbedded(options, data?.path, log, undo));
  const templateDirectory = options.templateDirectory ?? (await synthesizeFor(data?.path, undo));
  const { throttle, ...stack } = await readStack(templateDirectory);
  const client = engineClient(endpoint);
  undo.push(() => client.destroy());
  await ensureTable(client, stack.table, endpoint);

  const { TableName: tableName } = stack.table.input;
  const sign = signAs(client, endpoint);
  const functions = await startFunctions(stack, { endpoint, sign, maxEnvironments, log });
  undo.push(functions.stop);
  const { invoke, reload } = functions;
  if (options.streams !== false) {
    const file = data && join(data.path, "stream.json");
    const { eventsUrl } = options;
    const streamsOptions = { client, endpoint, sign, tableName, file, invoke, eventsUrl, log };
    undo.push(await startStreams(stack, streamsOptions));
  }
  const gateway = await startGateway(
    { ...stack, ...(throttling && throttle && { throttle }) },
    { port, invoke, pages: options.pages, log },
  );
  undo.push(gateway.stop);
  const run = { url: gateway.url, dynamodbEndpoint: endpoint, tableName };
  await data?.writeRun(run);
  return { ...run, templateDirectory, reload };
}

/** Finds out that the port is taken before the seconds that the rest needs. */
async function checkPort(port: number): Promise<void> {
  const server = createServer();
  await listen(server, port);
  await server[Symbol.asyncDispose]();
}

async function startEmbedded(
  { onEngineExit = () => {} }: LocalOptions,
  directory: string | undefined,
  log: Log,
  undo: Undo,
) {
  const engine = await startEngine({ directory, log, onExit: onEngineExit });
  undo.push(engine.stop);
  return engine.endpoint;
}

async function synthesizeFor(dataDirectory: string | undefined, undo: Undo): Promise<string> {
  if (dataDirectory !== undefined) return synthesize(join(dataDirectory, "stack"));
  const directory = await mkdtemp(join(tmpdir(), "local-run-"));
  undo.push(() => rm(directory, { recursive: true, force: true }));
  return synthesize(directory);
}
