import { rm } from "node:fs/promises";
import type { AssemblyProps } from "./assembly.ts";
import { callAfresh } from "./child-process.ts";

interface Synthesis extends AssemblyProps {
  readonly signal?: AbortSignal;
}

/** Synthesizes the stack of the stage `dev` into a directory of its own. @returns the directory */
export async function synthesize(directory: string, { signal, ...props }: Synthesis = {}): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  const module = new URL("./assembly.ts", import.meta.url);
  const failure = "The stack cannot be synthesized";
  await callAfresh([module, "writeAssembly", directory, props], { failure, signal });
  return directory;
}
