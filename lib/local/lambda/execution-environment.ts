import { once } from "node:events";
import { url as inspectorUrl } from "node:inspector";
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";
import type { LocalFunction } from "../template/functions.ts";
import { localRegion } from "../template/intrinsics.ts";

/** One invocation of the function. */
export interface Invocation {
  readonly requestId: string;
  readonly payload: string;
  /** When the function times out, in milliseconds since the epoch. */
  readonly deadline: number;
}

/** The JSON that the handler returned, or a description of what it threw. */
export type InvocationResult = { readonly payload: string } | { readonly error: string };

/** Lambda's limit for loading a function, in milliseconds. */
const initTimeout = 10_000;

/** The time limit of an invocation while this process can be debugged, in milliseconds. */
const debuggingTimeout = 3_600_000;

export type ExecutionEnvironment = ReturnType<typeof startEnvironment>;

/**
 * Starts an execution environment of a function: a worker thread with its own memory and environment variables.
 *
 * @param variables besides those of Lambda and of the function: the endpoint of AWS, and the access key that identifies the
 * function there
 * @param log takes the lines of standard output (`info`) and of standard error (`error`)
 */
export function startEnvironment(
  fn: LocalFunction,
  variables: Readonly<Record<string, string>>,
  log: Readonly<Record<"info" | "error", (line: string) => void>>,
) {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    name: fn.name,
    // As on Lambda, none of the developer's: https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
    env: {
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      AWS_LAMBDA_FUNCTION_NAME: fn.name,
      AWS_REGION: localRegion,
      AWS_SECRET_ACCESS_KEY: "local",
      TZ: ":UTC",
      ...fn.environment,
      ...variables,
    },
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: fn.memorySize },
    // Its role has functions, which cannot be cloned.
    workerData: { ...fn, role: undefined },
  });
  createInterface({ input: worker.stdout }).on("line", log.info);
  createInterface({ input: worker.stderr }).on("line", log.error);
  /** Aborted when the environment ends, with a reason for the log. */
  const ended = new AbortController();
  worker.once("error", (error) => ended.abort(new Error(inspect(error))));
  worker.once("exit", (code) => ended.abort(new Error(`ended by itself with code ${code}`)));
  const ready = readMessage(initTimeout, "did not load");
  // Loading may fail before the first request awaits it.
  ready.catch(() => {});

  return {
    isAlive: () => !ended.signal.aborted,
    /**
     * Invokes the function, which serves one invocation at a time.
     *
     * @returns the JSON that the handler returned
     * @throws Error with a message for the log when the function fails; the environment may have ended
     */
    async invoke(requestId: string, payload: string): Promise<string> {
      await ready;
      // A debugger may stop the function for as long as it likes.
      const timeout = inspectorUrl() ? debuggingTimeout : fn.timeout;
      worker.postMessage({ requestId, payload, deadline: Date.now() + timeout } satisfies Invocation);
      const response = await readMessage(timeout, "timed out");
      if ("error" in response) throw new Error(response.error);
      return response.payload;
    },
    end: () => end("the run ends"),
  };

  /** Waits for the next message, or ends the environment after a time limit. @throws Error with the reason of its end */
  async function readMessage(limit: number, failure: string): Promise<InvocationResult> {
    const timer = setTimeout(() => end(`${failure} after ${limit / 1000} s`), limit);
    try {
      const [message] = await once(worker, "message", { signal: ended.signal });
      return message;
    } catch {
      throw ended.signal.reason;
    } finally {
      clearTimeout(timer);
    }
  }

  async function end(reason: string): Promise<void> {
    ended.abort(new Error(reason));
    await worker.terminate();
  }
}
