import { Worker } from "node:worker_threads";
import { errorMessage, UserError } from "../errors.ts";

/** What the worker is told to call. */
export interface Call {
  /** The module's address. */
  readonly module: string;
  /** The name of its export. */
  readonly name: string;
  readonly args: readonly unknown[];
}

/** What the worker says at its end: what the function returned, or why it failed. */
export type Outcome = { readonly value: unknown } | { readonly fault: string };

interface Options {
  /** What a fault is introduced with. */
  readonly failure: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls a module's function in a worker thread of its own, which reads every source as it is now, and takes the
 * hundreds of megabytes that the CDK holds away with it.
 *
 * @param args what can be passed between threads, as is what it returns
 * @throws UserError with what the function, or its module, threw
 */
export async function callAfresh(
  [module, name, ...args]: [module: URL, name: string, ...args: unknown[]],
  { failure, signal }: Options,
): Promise<unknown> {
  signal?.throwIfAborted();
  const workerData = { module: module.href, name, args } satisfies Call;
  const worker = new Worker(new URL("./afresh-worker.ts", import.meta.url), { workerData });
  signal?.addEventListener("abort", () => void worker.terminate(), { once: true });
  const outcome = await new Promise<Outcome>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", (error) => resolve({ fault: errorMessage(error) }));
    worker.once("exit", (code) => {
      if (signal?.aborted) reject(signal.reason);
      else resolve({ fault: `its worker ended with code ${code}` });
    });
  });
  await worker.terminate();
  if ("value" in outcome) return outcome.value;
  throw new UserError(`${failure}: ${outcome.fault}`);
}
