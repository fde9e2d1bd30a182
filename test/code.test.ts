import { exec } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

// The scripts run as tests and not before them, to use the processors that the other tests leave idle.
test.concurrent.each(["types", "lint"])("npm run %s passes", async (script) => {
  const cwd = join(import.meta.dirname, "..");
  const { promise, resolve } = Promise.withResolvers<{ failed: boolean; output: string }>();
  exec(`npm run --silent ${script}`, { cwd, timeout: 240_000, maxBuffer: 1e8 }, (error, stdout, stderr) =>
    resolve({ failed: error !== null, output: stdout + stderr }),
  );
  const { failed, output } = await promise;
  expect(failed, output).toBe(false);
});
