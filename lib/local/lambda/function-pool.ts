import { randomUUID } from "node:crypto";
import { errorMessage } from "../../errors.ts";
import type { LocalFunction } from "../template/functions.ts";
import { ExecutionEnvironment } from "./execution-environment.ts";

/** The execution environments of one function. */
export interface FunctionPool {
  /**
   * Calls the function with a payload of JSON.
   *
   * @throws FunctionError when it gave no answer; why is in the log
   */
  invoke(payload: string): Promise<unknown>;
  /** Serves by the code in another directory; what is being served ends by the old one. */
  reload(codeDirectory: string): void;
  close(): Promise<void>;
}

/** The function failed: it threw, ended, took too long or answered what cannot be sent. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";
}

interface PoolOptions {
  /** All that the function sees as `process.env`. */
  readonly variables: Record<string, string>;
  /** How many requests the function serves at once; more wait. */
  readonly maxEnvironments: number;
  readonly log: (line: string) => void;
}

/**
 * Makes the pool of a function: each environment serves one request at a time, the one used last is used first, and
 * one that ended is replaced.
 */
export function createFunctionPool(
  fn: LocalFunction,
  { variables, maxEnvironments, log }: PoolOptions,
): FunctionPool {
  const environments = new Set<ExecutionEnvironment>();
  const idle: ExecutionEnvironment[] = [];
  /** Those that began with code that has been replaced since; a directory may come again. */
  const outdated = new WeakSet<ExecutionEnvironment>();
  let { codeDirectory } = fn;
  const waiting: ((environment: ExecutionEnvironment) => void)[] = [];
  let closed = false;
  const logAsFunction = (text: string) => {
    for (const line of text.split("\n")) log(`[${fn.label}] ${line}`);
  };

  function start(): ExecutionEnvironment {
    const environment = new ExecutionEnvironment({ ...fn, codeDirectory }, variables, logAsFunction);
    environments.add(environment);
    logAsFunction(`Environment ${environments.size} starts.`);
    return environment;
  }

  function acquire(): ExecutionEnvironment | Promise<ExecutionEnvironment> {
    for (let environment = idle.pop(); environment; environment = idle.pop()) {
      if (environment.alive) return environment;
      environments.delete(environment);
    }
    if (environments.size < maxEnvironments) return start();
    return new Promise((resolve) => waiting.push(resolve));
  }

  function release(environment: ExecutionEnvironment): void {
    if (closed) return;
    if (outdated.has(environment)) void environment.end();
    if (!environment.alive) environments.delete(environment);
    const next = waiting.shift();
    if (next) next(environment.alive ? environment : start());
    else if (environment.alive) idle.push(environment);
  }

  return {
    async invoke(payload) {
      const environment = await acquire();
      const requestId = randomUUID();
      try {
        return JSON.parse(await environment.invoke(requestId, payload));
      } catch (error) {
        if (!closed) logAsFunction(`The request ${requestId} failed: ${errorMessage(error)}`);
        throw new FunctionError(`The function ${fn.label} failed.`, { cause: error });
      } finally {
        release(environment);
      }
    },
    reload(directory) {
      codeDirectory = directory;
      for (const environment of environments) outdated.add(environment);
      for (const environment of idle.splice(0)) {
        environments.delete(environment);
        void environment.end();
      }
    },
    async close() {
      closed = true;
      await Promise.all([...environments].map((environment) => environment.end()));
    },
  };
}
