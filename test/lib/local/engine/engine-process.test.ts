import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { enginePorts } from "../../../../lib/local/engine/engine-ports.ts";
import { findManifest, stopProcess } from "../../../../lib/local/engine/engine-process.ts";
import { UserError } from "../../../../lib/user-error.ts";

test.skipIf(process.env.DYNAMODB_ENDPOINT)(
  "the engine of this platform is the one that its package has",
  () => {
    const { name } = JSON.parse(readFileSync(findManifest(), "utf8")) as { name: string };
    expect(name).toBe(`@dynoxide/${process.platform}-${process.arch}`);
  },
);

test.each([
  ["linux", "riscv64"],
  ["win32", "arm64"],
])("without an engine for %s on %s, the error says how to start DynamoDB Local", (platform, arch) => {
  const find = () => findManifest(platform, arch);
  expect(find).toThrow(UserError);
  expect(find).toThrow(`(@dynoxide/${platform}-${arch}) is not installed: run \`npm ci\`.`);
  expect(find).toThrow("`DYNAMODB_ENDPOINT=http://127.0.0.1:8000 npm start`");
});

test.each([
  ["ends at SIGTERM", "", "SIGTERM"],
  ["ignores SIGTERM", "process.on('SIGTERM', () => {});", "SIGKILL"],
])("a process that %s is stopped", async (_what, onSignal, signal) => {
  const child = spawn(process.execPath, [
    "--eval",
    `${onSignal} setInterval(() => {}, 60_000); console.log("ready");`,
  ]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const stopped = stopProcess(child);
  // The time that a process has to end at the first signal.
  if (signal === "SIGKILL") vi.advanceTimersByTime(3000);
  await stopped;
  expect(child.signalCode).toBe(signal);
  await stopProcess(child);
});

test.each(enginePorts)("no page can send a request to the port %i", async (port) => {
  // The fetch of Node.js has the port blocking of the Fetch Standard, as browsers have.
  const refused = fetch(`http://127.0.0.1:${port}`);
  await expect(refused).rejects.toMatchObject({ cause: { message: "bad port" } });
});
