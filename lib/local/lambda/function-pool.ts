import { randomUUID } from "node:crypto";
import { errorMessage } from "../../user-error.ts";
import type { LocalFunction } from "../template/functions.ts";
import { type ExecutionEnvironment, startEnvironment } from "./execution-environment.ts";

interface PoolOptions {
  /** Variables besides those of Lambda and of the function. */
  readonly variables: Readonly<Record<string, string>>;
  /** How many requests the function serves concurrently; further requests wait. */
  readonly maxEnvironments: number;
  /** Whether to log all output. By default, only warnings and errors are logged, without stack frames of libraries. */
  readonly verbose: boolean;
  readonly log: (line: string) => void;
}

/** Stack frames of libraries and of what calls a handler. In an error that was logged as an object, they are escaped. */
const libraryFrames =
  /(?:\n|\\n)? {4}at [^\n\\'"]*(?:node_modules|node:|lambda\/worker|masked-failures)[^\n\\'"]*/g;

export type FunctionPool = ReturnType<typeof createFunctionPool>;

/**
 * Creates a pool of the execution environments of one function. Each environment serves one request at a time. The one used
 * last is reused first, and an ended one is replaced.
 */
export function createFunctionPool(
  fn: LocalFunction,
  { variables, maxEnvironments, verbose, log }: PoolOptions,
) {
  const environments = new Set<ExecutionEnvironment>();
  /** Free places, each with the environment that had it last. The place that was used last is the last one. */
  const free: (ExecutionEnvironment | undefined)[] = Array(maxEnvironments).fill(undefined);
  const waiting: ((place: ExecutionEnvironment) => void)[] = [];

  return {
    /**
     * Invokes the function with a JSON payload.
     *
     * @throws Error when the function throws, ends, times out or returns a value that cannot be sent; the log has the cause
     */
    async invoke(payload: string): Promise<unknown> {
      const place =
        free.length > 0
          ? free.pop()
          : await new Promise<ExecutionEnvironment>((resolve) => waiting.push(resolve));
      const environment = place?.isAlive() ? place : replace(place);
      const requestId = randomUUID();
      try {
        return JSON.parse(await environment.invoke(requestId, payload)) as unknown;
      } catch (error) {
        logLines(`The request ${requestId} failed: ${errorMessage(error)}`);
        throw new Error(`The function ${fn.label} failed.`, { cause: error });
      } finally {
        const next = waiting.shift();
        if (next) next(environment);
        else free.push(environment);
      }
    },
    async close(): Promise<void> {
      waiting.length = 0;
      await Promise.all([...environments].map((environment) => environment.end()));
    },
  };

  function replace(ended: ExecutionEnvironment | undefined): ExecutionEnvironment {
    if (ended) environments.delete(ended);
    const environment = startEnvironment(fn, variables, {
      info: verbose ? logLines : () => {},
      error: logLines,
    });
    environments.add(environment);
    return environment;
  }

  function logLines(text: string): void {
    const shown = verbose ? text : text.replaceAll(libraryFrames, "");
    for (const line of shown.split(/\n|\\n(?= {4}at )/)) log(`[${fn.label}] ${line}`);
  }
}
