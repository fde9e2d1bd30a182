import { url as inspectorUrl } from "node:inspector";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import { errorCode } from "../../user-error.ts";
import type { LocalFunction } from "../template/functions.ts";

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

/** One execution environment of a function: a worker thread with its own memory and environment variables. */
export class ExecutionEnvironment {
  readonly #worker: Worker;
  readonly #function: LocalFunction;
  readonly #ready: Promise<unknown>;
  #message = Promise.withResolvers<InvocationResult>();
  readonly #ended = Promise.withResolvers<never>();
  #alive = true;

  /** @param variables the function's whole `process.env` */
  constructor(fn: LocalFunction, variables: Record<string, string>, log: (line: string) => void) {
    this.#function = fn;
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), {
      name: fn.name,
      env: variables,
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: fn.memorySize },
      workerData: fn,
    });
    for (const input of [this.#worker.stdout, this.#worker.stderr])
      createInterface({ input }).on("line", log);
    this.#worker.on("message", (message: InvocationResult) => this.#message.resolve(message));
    const onEnd = (reason: string) => {
      this.#alive = false;
      this.#ended.reject(new Error(reason));
    };
    this.#worker.once("error", (error) => onEnd(describeFailure(error)));
    this.#worker.once("exit", (code) => onEnd(`ended by itself with code ${code}`));
    this.#ready = Promise.race([this.#message.promise, this.#ended.promise]);
    // Between requests nothing awaits these promises.
    for (const promise of [this.#ended.promise, this.#ready]) promise.catch(() => {});
  }

  get alive(): boolean {
    return this.#alive;
  }

  /**
   * Invokes the function; one invocation at a time.
   *
   * @returns the JSON that the handler returned
   * @throws Error with a message for the log when the function fails; the environment may have ended
   */
  async invoke(requestId: string, payload: string): Promise<string> {
    await this.#within(initTimeout, this.#ready, "did not load");
    // A debugger may stop the function for as long as it likes.
    const timeout = inspectorUrl() ? debuggingTimeout : this.#function.timeout;
    this.#message = Promise.withResolvers();
    this.#worker.postMessage({ requestId, payload, deadline: Date.now() + timeout } satisfies Invocation);
    const result = Promise.race([this.#message.promise, this.#ended.promise]);
    const response = await this.#within(timeout, result, "timed out");
    if ("error" in response) throw new Error(response.error);
    return response.payload;
  }

  async end(): Promise<void> {
    this.#alive = false;
    await this.#worker.terminate();
  }

  async #within<T>(limit: number, outcome: Promise<T>, failure: string): Promise<T> {
    const expiry = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      expiry.reject(new Error(`${failure} after ${limit / 1000} s`));
      void this.end();
    }, limit);
    try {
      return await Promise.race([outcome, expiry.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function describeFailure(failure: unknown): string {
  if (errorCode(failure) === "ERR_WORKER_OUT_OF_MEMORY") return "ran out of memory";
  return failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
}
