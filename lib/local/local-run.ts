import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../../shared/json.ts";
import { openDataDirectory } from "./engine/data-directory.ts";
import { engineHeaders, engineStreamsClient } from "./engine/dynamodb-client.ts";
import { startEngine } from "./engine/engine.ts";
import { prepareTable } from "./engine/table-setup.ts";
import { startGateway } from "./gateway/gateway.ts";
import type { WebPages } from "./gateway/request-routing.ts";
import { createFaults, type InjectedFault } from "./iam/faults.ts";
import { type ProxyOptions, startIamProxy } from "./iam/iam-proxy.ts";
import { createFunctionPool, type FunctionPool } from "./lambda/function-pool.ts";
import { openLocalEventBus } from "./streams/local-event-bus.ts";
import { openLocalQueues } from "./streams/local-queues.ts";
import { openStoredMap } from "./streams/stored-map.ts";
import { startStream } from "./streams/stream.ts";
import type { Invoke, LocalFunction } from "./template/functions.ts";
import { readStack } from "./template/template.ts";

/** How the service runs on this machine. */
interface LocalOptions {
  /** Where data is kept between runs. */
  readonly dataDirectory: string;
  /** An engine to use in place of the embedded one. */
  readonly dynamodbEndpoint?: string | undefined;
  /** 0, the default, for any free port. */
  readonly port?: number;
  /** The stage to serve, by default `dev`. */
  readonly stage?: string;
  /** A cloud assembly to serve. By default, the stage is synthesized. */
  readonly templateDirectory?: string | undefined;
  /** How many requests each function serves concurrently; further requests wait. */
  readonly maxEnvironments?: number;
  /** Whether to feed functions from the table's stream, by default true. */
  readonly streams?: boolean;
  /** Variables of all functions besides their own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The faults that table calls get at random, by default none. */
  readonly faults?: readonly InjectedFault[] | undefined;
  /** The URL to which events are posted. By default, they are only logged. */
  readonly eventsUrl?: string | undefined;
  /** Pages to serve beside the API. */
  readonly webPages?: WebPages;
  /** Whether to log more than warnings, errors and a line for each request and event. */
  readonly verbose?: boolean;
  readonly log?: (line: string) => void;
}

/** A running service. */
export type LocalRun = Awaited<ReturnType<typeof startLocal>>;

/** The concurrent executions of a new AWS account. An environment with the AWS SDK needs some 30 MB. */
const defaultMaxEnvironments = 10;

/** Starts the whole service on this machine, as its template describes it. */
export async function startLocal(options: LocalOptions) {
  const { port = 0, streams = true, log = console.log } = options;
  await using starting = new AsyncDisposableStack();
  const data = await openDataDirectory(options.dataDirectory);
  starting.defer(data.unlock);
  const { endpoint } = options.dynamodbEndpoint
    ? { endpoint: options.dynamodbEndpoint }
    : starting.adopt(await startEngine({ directory: data.path }), (engine) => engine.stop());
  const directory =
    options.templateDirectory ?? (await synthesizeStack(join(data.path, "stack"), options.stage));
  const stack = await readStack(directory);
  const streamArn = await prepareTable(stack.table, endpoint);
  const faults = createFaults(options.faults ?? []);
  const stopping = new AbortController();
  const { signal } = stopping;
  // The functions start after the proxy. Messages that the last run left in the queues wait until the functions have started.
  const started = Promise.withResolvers<ReadonlyMap<LocalFunction, FunctionPool>>();
  const invoke: Invoke = async (fn, payload) => (await started.promise).get(fn)?.invoke(payload);
  const operations: ProxyOptions["operations"] = {
    ...openLocalEventBus({ eventsUrl: options.eventsUrl, log, signal }),
    ...openLocalQueues(stack.functionQueues, { file: join(data.path, "queue.json"), invoke, log, signal }),
    GetParameter: (input) => readSecret(join(data.path, "secrets.json"), input),
  };
  const { findPartitionKey } = stack.table;
  const proxied = { endpoint, headers: engineHeaders, findPartitionKey, operations, faults, log };
  started.resolve(await startFunctions(stack.functions, proxied, options, starting));
  starting.defer(() => stopping.abort());
  if (streams) {
    const client = engineStreamsClient(endpoint);
    starting.defer(() => client.destroy());
    const positions = openStoredMap<string>(join(data.path, "stream.json"));
    for (const source of stack.eventSources)
      startStream(source, { client, streamArn, positions, invoke, log, signal });
  }
  const { webPages } = options;
  const gateway = await startGateway(stack, { port, invoke, webPages, faultsOf: faults.take, log });
  starting.defer(gateway.close);
  const tableName = stack.table.input.TableName;
  /** The endpoint is that of the engine itself and not of the proxy, for callers without a role. */
  const run = { url: gateway.url, dynamodbEndpoint: endpoint, tableName };
  await data.writeRun(run);
  const resources = starting.move();
  return { ...run, stop: () => resources.disposeAsync() };
}

/**
 * Synthesizes the stage as `cdk synth` would, but leaves the CDK's validation of the template and cdk-nag to deployments,
 * because they take more than half of the time.
 *
 * @returns the directory of the cloud assembly
 */
async function synthesizeStack(outdir: string, stage = "dev"): Promise<string> {
  await rm(outdir, { recursive: true, force: true });
  // A run that is given a cloud assembly does not need the CDK, which takes a second to load.
  const { createApp } = await import("../app.ts");
  process.env.CDK_VALIDATION = "false";
  (await createApp({ context: { stage }, outdir, checked: false })).synth();
  return outdir;
}

/** Answers `GetParameter` from a file, as the commands with `--local` write it. */
async function readSecret(file: string, { Name }: { readonly Name: string }) {
  const text = await readFile(file, "utf8").catch(() => "{}");
  // The name begins with the path of the stage, which the file leaves out.
  const Value: unknown = Reflect.get(Object(parseJson(text)), Name.replace(/^\/[^/]*\//, ""));
  return { Parameter: { Name, ...(typeof Value === "string" && { Value }) } };
}

/** Starts the functions behind a proxy that enforces their roles. */
async function startFunctions(
  functions: readonly LocalFunction[],
  proxied: Omit<ProxyOptions, "callers">,
  { maxEnvironments = defaultMaxEnvironments, environment, verbose = false }: LocalOptions,
  resources: AsyncDisposableStack,
) {
  const callers = new Map(
    functions.map((fn) => [`LOCAL${randomBytes(8).toString("hex").toUpperCase()}`, fn]),
  );
  const proxy = await startIamProxy({ ...proxied, callers });
  resources.defer(proxy.close);
  const pools = new Map<LocalFunction, FunctionPool>();
  for (const [accessKey, fn] of callers) {
    // The endpoint of every AWS service: no function reaches AWS itself.
    const aws = { AWS_ENDPOINT_URL: proxy.url, AWS_ACCESS_KEY_ID: accessKey };
    const variables = { ...aws, ...environment };
    pools.set(fn, createFunctionPool(fn, { variables, maxEnvironments, verbose, log: proxied.log }));
  }
  resources.defer(async () => {
    await Promise.all([...pools.values()].map((pool) => pool.close()));
  });
  return pools;
}
