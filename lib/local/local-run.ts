import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DynamoDBRecord } from "aws-lambda";
import { openDataDirectory } from "./engine/data-directory.ts";
import { engineHeaders, engineStreamsClient } from "./engine/dynamodb-client.ts";
import { startEngine } from "./engine/engine.ts";
import { prepareTable } from "./engine/table-setup.ts";
import { functionUrlPages } from "./gateway/function-url.ts";
import { startGateway } from "./gateway/gateway.ts";
import type { Pages } from "./gateway/request-routing.ts";
import { createFaults, type Faults, type InjectedFault } from "./iam/faults.ts";
import { startIamProxy } from "./iam/iam-proxy.ts";
import { createFunctions } from "./lambda/lambda-functions.ts";
import { openLocalEventBus } from "./streams/local-event-bus.ts";
import { openLocalFifoQueues } from "./streams/local-fifo-queues.ts";
import { openLocalQueues } from "./streams/local-queues.ts";
import { openLocalSecrets } from "./streams/local-secrets.ts";
import { startStream } from "./streams/stream.ts";
import { createStreamClient } from "./streams/stream-client.ts";
import { openPositions } from "./streams/stream-positions.ts";
import type { Invoke } from "./template/functions.ts";
import { findPartitionKey } from "./template/table-definition.ts";
import { type LocalStack, readStack } from "./template/template.ts";

interface LocalOptions {
  /** Where data is kept between runs; without it, data is in memory. */
  readonly dataDirectory?: string | undefined;
  /** Another engine than the embedded one. */
  readonly dynamodbEndpoint?: string | undefined;
  /** The port of the embedded engine: 0 for any free one; by default, one that no web page can reach. */
  readonly enginePort?: number | undefined;
  /** 0, the default, for any free port. */
  readonly port?: number;
  /** The stage to serve, by default `dev`. */
  readonly stage?: string;
  /** A cloud assembly to serve; without it, the stage is synthesized. */
  readonly templateDirectory?: string | undefined;
  /** How many requests each function serves concurrently; further requests wait. */
  readonly maxEnvironments?: number;
  /** Whether to enforce the stage's throttle, by default true. */
  readonly throttling?: boolean;
  /** Whether to feed functions from the table's stream, by default true. */
  readonly streams?: boolean;
  /** Variables of all functions beside their own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The faults that calls of the table have at random; without it, none. */
  readonly faults?: readonly InjectedFault[] | undefined;
  /** Where events are posted; without it, they are only logged. */
  readonly eventsUrl?: string | undefined;
  /** Pages to serve beside the API. */
  readonly pages?: Pages;
  readonly log?: (line: string) => void;
  /** Called when the engine ends without having been stopped. */
  readonly onEngineExit?: () => void;
}

/** A running service. */
export interface LocalRun {
  readonly url: string;
  /** The engine itself, for callers without a role. */
  readonly dynamodbEndpoint: string;
  readonly tableName: string;
  stop(): Promise<void>;
}

/** AWS gives a new account as many concurrent executions; an environment with the AWS SDK needs some 30 MB. */
const defaultMaxEnvironments = 10;

/** Starts the whole service on this machine, as its template describes it. */
export async function startLocal(options: LocalOptions = {}): Promise<LocalRun> {
  const { port = 0, throttling = true, streams = true, log = console.log, onEngineExit = () => {} } = options;
  const { dataDirectory, enginePort, pages } = options;
  await using starting = new AsyncDisposableStack();
  const data = dataDirectory === undefined ? undefined : await openDataDirectory(dataDirectory);
  starting.defer(() => data?.close());
  const { endpoint } = options.dynamodbEndpoint
    ? { endpoint: options.dynamodbEndpoint }
    : starting.adopt(
        await startEngine({ directory: data?.path, port: enginePort, log, onExit: onEngineExit }),
        (engine) => engine.stop(),
      );
  const { throttle, ...stack } = await readStack(
    options.templateDirectory ?? (await synthesizeStack(options.stage, data?.path, starting)),
  );
  if (stack.hasCors) log("The local run has no CORS: corsOrigins has no effect here.");
  const streamArn = await prepareTable(stack.table, endpoint);
  const faults = options.faults && createFaults(options.faults);
  const { invoke } = await startFunctions(
    stack,
    data && join(data.path, "secrets.json"),
    endpoint,
    faults,
    options,
    starting,
  );
  if (streams) {
    const client = engineStreamsClient(endpoint);
    starting.defer(() => client.destroy());
    const positions = openPositions(data && join(data.path, "stream.json"));
    const shared = { client: createStreamClient(client, streamArn), streamArn, positions, log };
    for (const source of stack.eventSources) {
      const deliver = (records: readonly DynamoDBRecord[]) =>
        invoke(source.function, JSON.stringify({ Records: records }));
      starting.defer(startStream(source, { ...shared, deliver }).stop);
    }
  }
  const api = { ...stack, ...(throttling && throttle && { throttle }) };
  const { urlFunction } = stack;
  const allPages = urlFunction ? functionUrlPages(urlFunction, invoke, pages) : pages;
  const gateway = await startGateway(api, { port, invoke, pages: allPages, faultsOf: faults?.take, log });
  starting.defer(gateway.stop);
  const tableName = stack.table.input.TableName;
  const run = { url: gateway.url, dynamodbEndpoint: endpoint, tableName };
  await data?.writeRun(run);
  const resources = starting.move();
  return { ...run, stop: () => resources.disposeAsync() };
}

/**
 * Synthesizes the stage as `cdk synth` would, but leaves the CDK's validation of the template and cdk-nag to deployments,
 * because they take more than half of the time.
 *
 * @returns the directory of the cloud assembly
 */
async function synthesizeStack(
  stage = "dev",
  dataDirectory: string | undefined,
  resources: AsyncDisposableStack,
): Promise<string> {
  const outdir = join(dataDirectory ?? (await mkdtemp(join(tmpdir(), "local-run-"))), "stack");
  if (dataDirectory === undefined) resources.defer(() => rm(dirname(outdir), { recursive: true }));
  await rm(outdir, { recursive: true, force: true });
  // A run that is given a cloud assembly does not need the CDK, which takes a second to load.
  const { createApp } = await import("../app.ts");
  process.env.CDK_VALIDATION = "false";
  (await createApp({ stage, outdir, checked: false })).synth();
  return outdir;
}

/** Starts the functions behind a proxy that enforces their roles. */
async function startFunctions(
  { functions, table, functionQueues }: Pick<LocalStack, "functions" | "table" | "functionQueues">,
  secretsFile: string | undefined,
  endpoint: string,
  faults: Faults | undefined,
  { maxEnvironments = defaultMaxEnvironments, environment = {}, eventsUrl, log = console.log }: LocalOptions,
  resources: AsyncDisposableStack,
) {
  const bus = openLocalEventBus({ eventsUrl, log });
  resources.defer(bus.stop);
  // The functions that the queues feed start behind the proxy.
  let started: ReturnType<typeof createFunctions> | undefined;
  const invokeStarted: Invoke = async (fn, payload) => started?.invoke(fn, payload);
  const fifo = openLocalFifoQueues(functionQueues, { invoke: invokeStarted, log });
  resources.defer(fifo.stop);
  const proxy = await startIamProxy({
    endpoint,
    headers: engineHeaders,
    findPartitionKey: (index) => findPartitionKey(table, index),
    operations: {
      PutEvents: bus.putEvents,
      SendMessage: openLocalQueues(log),
      SendMessageBatch: fifo.sendMessageBatch,
      ChangeMessageVisibility: fifo.changeMessageVisibility,
      GetParameter: openLocalSecrets(secretsFile),
    },
    faults,
    log,
  });
  resources.defer(proxy.close);
  started = createFunctions(functions, {
    createVariables: (fn) => ({
      // Of every service: no function reaches AWS itself.
      AWS_ENDPOINT_URL: proxy.endpoint,
      AWS_ACCESS_KEY_ID: proxy.createAccessKey(fn),
      ...environment,
    }),
    maxEnvironments,
    log,
  });
  resources.defer(started.stop);
  return started;
}
