import { exec } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

// Here and not before the tests, so that the processors that these leave idle run them.
test.concurrent.each(["types", "lint"])("npm run %s passes", async (script) => {
  const cwd = join(import.meta.dirname, "..");
  const { promise, resolve } = Promise.withResolvers<{ failed: boolean; output: string }>();
  exec(`npm run --silent ${script}`, { cwd, timeout: 240_000, maxBuffer: 1e8 }, (error, stdout, stderr) =>
    resolve({ failed: error !== null, output: stdout + stderr }),
  );
  const { failed, output } = await promise;
  expect(failed, output).toBe(false);
});
