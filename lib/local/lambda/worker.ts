/** The inside of an execution environment: runs in a worker thread, loads a function and answers one request at a time. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { inspect } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import type { Answer, EnvironmentData, Invocation } from "./execution-environment.ts";

/** Lambda's limit of an answer, in bytes. */
const maxResponseBytes = 6_291_556;

type Handler = (event: unknown, context: unknown) => unknown;

const data = workerData as EnvironmentData;
const port = parentPort;
if (!port) throw new Error("This file is run by a worker thread only.");

// One line of the log for one object, as Lambda's JSON log format has it.
Object.assign(inspect.defaultOptions, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 10 });

const handler = loadHandler();
port.on("message", async (invocation: Invocation) => port.postMessage(await response(invocation)));
port.postMessage("ready");

function loadHandler(): Handler {
  const [file = "", name = ""] = data.handler.split(".");
  const path = [".js", ".cjs", ".mjs"]
    .map((extension) => join(data.codeDirectory, file + extension))
    .find(existsSync);
  if (!path) throw new Error(`Cannot find module '${file}' of the handler ${data.handler}`);
  const handler = createRequire(path)(path)[name];
  if (typeof handler !== "function") throw new Error(`${data.handler} is undefined or not exported`);
  if (handler.length > 2)
    throw new Error(`${data.handler} takes a callback, which Node.js 24 on Lambda does not give`);
  return handler;
}

async function response(invocation: Invocation): Promise<Answer> {
  try {
    const result = await handler(JSON.parse(invocation.payload), buildContext(invocation));
    const payload = JSON.stringify(result) ?? "null";
    const bytes = Buffer.byteLength(payload);
    if (bytes <= maxResponseBytes) return { payload };
    return {
      error: `The answer of ${bytes} bytes is larger than Lambda's limit of ${maxResponseBytes} bytes.`,
    };
  } catch (error) {
    return { error: inspect(error) };
  }
}

function buildContext({ requestId, deadline }: Invocation) {
  return {
    functionName: data.functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: data.functionArn,
    memoryLimitInMB: String(data.memorySize),
    awsRequestId: requestId,
    logGroupName: `/aws/lambda/${data.functionName}`,
    logStreamName: "local",
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}
