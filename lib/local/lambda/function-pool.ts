import { randomUUID } from "node:crypto";
import { errorMessage } from "../../user-error.ts";
import type { LocalFunction } from "../template/functions.ts";
import { type ExecutionEnvironment, startEnvironment } from "./execution-environment.ts";

interface PoolOptions {
  /** The function's whole `process.env`. */
  readonly variables: Record<string, string>;
  /** How many requests the function serves concurrently; further requests wait. */
  readonly maxEnvironments: number;
  readonly log: (line: string) => void;
}

/**
 * Creates a pool of the execution environments of one function. Each serves one request at a time; the one used last is used
 * first, and one that ended is replaced.
 */
export function createFunctionPool(fn: LocalFunction, { variables, maxEnvironments, log }: PoolOptions) {
  const environments = new Set<ExecutionEnvironment>();
  const idle: ExecutionEnvironment[] = [];
  const waiting: ((environment: ExecutionEnvironment) => void)[] = [];
  let closed = false;

  return {
    /**
     * Invokes the function with a JSON payload.
     *
     * @throws Error when the function throws, ends, times out or returns a value that cannot be sent; the log has the cause
     */
    async invoke(payload: string): Promise<unknown> {
      const environment = await acquire();
      const requestId = randomUUID();
      try {
        return JSON.parse(await environment.invoke(requestId, payload)) as unknown;
      } catch (error) {
        if (!closed) logLines(`The request ${requestId} failed: ${errorMessage(error)}`);
        throw new Error(`The function ${fn.label} failed.`, { cause: error });
      } finally {
        release(environment);
      }
    },
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...environments].map((environment) => environment.end()));
    },
  };

  function acquire(): ExecutionEnvironment | Promise<ExecutionEnvironment> {
    for (let environment = idle.pop(); environment; environment = idle.pop()) {
      if (environment.isAlive()) return environment;
      environments.delete(environment);
    }
    if (environments.size < maxEnvironments) return start();
    return new Promise((resolve) => waiting.push(resolve));
  }

  function release(environment: ExecutionEnvironment): void {
    if (closed) return;
    if (!environment.isAlive()) environments.delete(environment);
    const next = waiting.shift();
    if (next) next(environment.isAlive() ? environment : start());
    else if (environment.isAlive()) idle.push(environment);
  }

  function start(): ExecutionEnvironment {
    const environment = startEnvironment(fn, variables, logLines);
    environments.add(environment);
    logLines(`Environment ${environments.size} starts.`);
    return environment;
  }

  function logLines(text: string): void {
    // The frames of an error that was logged as an object are escaped.
    for (const line of text.split(/\n|\\n(?= {4}at )/)) log(`[${fn.label}] ${line}`);
  }
}
