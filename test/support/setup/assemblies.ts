import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The directory of the stages that the workers have synthesized. */
    assemblies: string;
  }
}

/** Makes the directory, and removes it after the run. */
export default async function setup(project: TestProject) {
  const directory = await mkdtemp(join(tmpdir(), "assemblies-"));
  project.provide("assemblies", directory);
  return () => rm(directory, { recursive: true });
}
