import { randomUUID } from "node:crypto";
import { errorMessage } from "../../user-error.ts";
import type { LocalFunction } from "../template/functions.ts";
import { ExecutionEnvironment } from "./execution-environment.ts";

/** The function threw, ended, timed out or returned a value that cannot be sent. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";
}

interface PoolOptions {
  /** The function's whole `process.env`. */
  readonly variables: Record<string, string>;
  /** How many requests the function serves concurrently; further requests wait. */
  readonly maxEnvironments: number;
  readonly log: (line: string) => void;
}

/**
 * The execution environments of one function. Each serves one request at a time; the one used last is used first, and
 * one that ended is replaced.
 */
export class FunctionPool {
  readonly #options: PoolOptions;
  readonly #environments = new Set<ExecutionEnvironment>();
  readonly #idle: ExecutionEnvironment[] = [];
  readonly #waiting: ((environment: ExecutionEnvironment) => void)[] = [];
  readonly #function: LocalFunction;
  #closed = false;

  constructor(fn: LocalFunction, options: PoolOptions) {
    this.#function = fn;
    this.#options = options;
  }

  /**
   * Invokes the function with a JSON payload.
   *
   * @throws FunctionError when the function fails; the log has the cause
   */
  async invoke(payload: string): Promise<unknown> {
    const environment = await this.#acquire();
    const requestId = randomUUID();
    try {
      return JSON.parse(await environment.invoke(requestId, payload)) as unknown;
    } catch (error) {
      if (!this.#closed) this.#log(`The request ${requestId} failed: ${errorMessage(error)}`);
      throw new FunctionError(`The function ${this.#function.label} failed.`, { cause: error });
    } finally {
      this.#release(environment);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#environments].map((environment) => environment.end()));
  }

  #acquire(): ExecutionEnvironment | Promise<ExecutionEnvironment> {
    for (let environment = this.#idle.pop(); environment; environment = this.#idle.pop()) {
      if (environment.alive) return environment;
      this.#environments.delete(environment);
    }
    if (this.#environments.size < this.#options.maxEnvironments) return this.#start();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(environment: ExecutionEnvironment): void {
    if (this.#closed) return;
    if (!environment.alive) this.#environments.delete(environment);
    const next = this.#waiting.shift();
    if (next) next(environment.alive ? environment : this.#start());
    else if (environment.alive) this.#idle.push(environment);
  }

  #start(): ExecutionEnvironment {
    const log = (line: string) => this.#log(line);
    const environment = new ExecutionEnvironment(this.#function, this.#options.variables, log);
    this.#environments.add(environment);
    log(`Environment ${this.#environments.size} starts.`);
    return environment;
  }

  #log(text: string): void {
    // The frames of an error that was logged as an object are escaped.
    for (const line of text.split(/\n|\\n(?= {4}at )/))
      this.#options.log(`[${this.#function.label}] ${line}`);
  }
}
