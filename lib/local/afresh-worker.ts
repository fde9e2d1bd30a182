/** Calls a function of a module and says what it returned, in a worker thread. */
import { relative } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "../errors.ts";
import type { Call, Outcome } from "./child-process.ts";

interface BuildFault {
  readonly text: string;
  readonly location?: { readonly file: string; readonly line: number } | null;
}

parentPort?.postMessage(await call(workerData as Call));

async function call({ module, name, args }: Call): Promise<Outcome> {
  try {
    // Imported here so that a fault in the module, or in one of its own, is told like any other.
    const { [name]: exported } = await import(module);
    return { value: await exported(...args) };
  } catch (error) {
    return { fault: firstFault(error) };
  }
}

/** Where and why: the first of esbuild's errors, or what Node.js puts before the stack of a module that it cannot read. */
function firstFault(error: unknown): string {
  const { errors: [fault] = [], stack = "" } = error as { errors?: BuildFault[]; stack?: string };
  if (fault?.location) return `${fault.location.file}:${fault.location.line}: ${fault.text}`;
  if (fault) return fault.text;
  const [, file, line] = /^(?:file:\/\/)?(\/.+):(\d+)$/.exec(stack.split("\n", 1)[0] ?? "") ?? [];
  return file === undefined ? errorMessage(error) : `${relative("", file)}:${line}: ${errorMessage(error)}`;
}
