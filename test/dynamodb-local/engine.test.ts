import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startDynamodbLocal } from "./engine.ts";

/** Makes the PATH a directory that has only this script as `java`. */
async function useJava(script: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "java-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  if (script) await writeFile(join(directory, "java"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", directory);
}

test.each([
  ["no Java", ""],
  ["a Java without a compiler", "echo java.base@17.0.19"],
  ["an old JDK", "echo jdk.compiler@11.0.2"],
  ["a Java that knows no modules", "exit 1"],
])("with %s, DynamoDB Local asks for a JDK", async (_, script) => {
  await useJava(script);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startDynamodbLocal()).rejects.toThrow(
    /^DynamoDB Local needs a JDK of version 17 or newer: install one/,
  );
});
