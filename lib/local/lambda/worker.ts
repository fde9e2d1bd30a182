/** Runs in the worker thread of an execution environment: loads a function and serves one request at a time. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { inspect } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import type { LocalFunction } from "../template/functions.ts";
import type { Invocation, InvocationResult } from "./execution-environment.ts";

/** Lambda's limit for a response, in bytes. */
const maxResponseBytes = 6_291_556;

type Handler = (event: unknown, context: unknown) => unknown;

const fn = workerData as LocalFunction;
const port = parentPort;
if (!port) throw new Error("This file must run in a worker thread.");

// Print each object on one line, as Lambda's JSON log format does.
Object.assign(inspect.defaultOptions, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 10 });

const handler = loadHandler();
port.on("message", async (invocation: Invocation) => port.postMessage(await invoke(invocation)));
port.postMessage("ready");

function loadHandler(): Handler {
  const [file = "", name = ""] = fn.handler.split(".");
  const path = [".js", ".cjs", ".mjs"]
    .map((extension) => join(fn.codeDirectory, file + extension))
    .find(existsSync);
  if (!path) throw new Error(`Cannot find module '${file}' of the handler ${fn.handler}`);
  const { [name]: handler } = createRequire(path)(path) as Readonly<Record<string, unknown>>;
  if (typeof handler !== "function") throw new Error(`${fn.handler} is undefined or not exported`);
  if (handler.length > 2)
    throw new Error(`${fn.handler} takes a callback, which Lambda does not support for Node.js 24`);
  return handler as Handler;
}

async function invoke(invocation: Invocation): Promise<InvocationResult> {
  try {
    const result = await handler(JSON.parse(invocation.payload), buildContext(invocation));
    const payload = JSON.stringify(result) ?? "null";
    const bytes = Buffer.byteLength(payload);
    if (bytes <= maxResponseBytes) return { payload };
    return {
      error: `The response of ${bytes} bytes is larger than Lambda's limit of ${maxResponseBytes} bytes.`,
    };
  } catch (error) {
    return { error: inspect(error) };
  }
}

function buildContext({ requestId, deadline }: Invocation) {
  return {
    functionName: fn.name,
    functionVersion: "$LATEST",
    invokedFunctionArn: fn.arn,
    memoryLimitInMB: String(fn.memorySize),
    awsRequestId: requestId,
    logGroupName: `/aws/lambda/${fn.name}`,
    logStreamName: "local",
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}
