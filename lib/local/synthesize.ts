import { rm } from "node:fs/promises";
import { callAfresh } from "./afresh.ts";

interface Synthesis {
  /** The directory that holds each function's bundle; without it they are made. */
  readonly bundles?: string;
  readonly signal?: AbortSignal;
}

/** Synthesizes the stack of the stage `dev` into a directory of its own. @returns the directory */
export async function synthesize(directory: string, { bundles, signal }: Synthesis = {}): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  const module = new URL("./assembly.ts", import.meta.url);
  const failure = "The stack cannot be synthesized";
  await callAfresh([module, "writeAssembly", directory, bundles], { failure, signal });
  return directory;
}
