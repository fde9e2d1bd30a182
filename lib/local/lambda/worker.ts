/** Runs in the worker thread of an execution environment: loads a function and serves one request at a time. */
import { createRequire, registerHooks, setSourceMapsSupport } from "node:module";
import { join } from "node:path";
import { inspect } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import type { LocalFunction } from "../template/functions.ts";
import type { Invocation, InvocationResult } from "./execution-environment.ts";

type Handler = (event: unknown, context: unknown) => unknown;

const fn = workerData as LocalFunction;

// Print each object on one line, as Lambda's JSON log format does.
Object.assign(inspect.defaultOptions, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 10 });

// The default of ten frames does not reach from the SDK to its caller.
Error.stackTraceLimit = 50;

const handler = loadHandler();
parentPort?.on("message", async (invocation: Invocation) =>
  parentPort?.postMessage(await invoke(invocation)),
);
parentPort?.postMessage("ready");

function loadHandler(): Handler {
  const [file = "", name = ""] = fn.handler.split(".");
  const path = join(fn.codeDirectory, `${file}.cjs`);
  // Stacks and debuggers find the sources. The code is exactly what is deployed, so it does not name its source map.
  const map = `../bundles/${fn.label}/${file}.cjs.map`;
  setSourceMapsSupport(true);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      return loaded.source ? { ...loaded, source: `${loaded.source}\n//# sourceMappingURL=${map}` } : loaded;
    },
  });
  const { [name]: handler } = createRequire(path)(path) as Readonly<Record<string, unknown>>;
  if (typeof handler !== "function") throw new Error(`${fn.handler} is undefined or not exported`);
  return handler as Handler;
}

async function invoke({ requestId, payload, deadline }: Invocation): Promise<InvocationResult> {
  try {
    const event = JSON.parse(payload) as { requestContext?: { requestId: string } } | null;
    // On AWS, Lambda sets the trace id. The SDK sends it with each call, and the proxy reads the request id from it.
    process.env._X_AMZN_TRACE_ID = event?.requestContext?.requestId ?? "";
    // The part of Lambda's context that the functions and middy read.
    const context = {
      functionName: fn.name,
      awsRequestId: requestId,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    const result = await handler(event, context);
    return { payload: JSON.stringify(result) ?? "null" };
  } catch (error) {
    return { error: inspect(error) };
  }
}
