import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { run } from "../../lib/command-line.ts";
import { UserError } from "../../lib/user-error.ts";

let print = vi.spyOn(console, "error");
beforeEach(() => {
  print = vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  process.exitCode = undefined;
});

test("a user's error prints only its message, and a bug prints its stack", async () => {
  const bug = new TypeError("x is not a function");
  await run(() => Promise.reject(new UserError("The stage is not valid.")));
  await run(() => Promise.reject(bug));
  await run(() => {
    throw bug;
  });
  expect(process.exitCode).toBe(1);
  // `console.error` prints the stack of an Error.
  expect(print.mock.calls).toEqual([["The stage is not valid."], [bug], [bug]]);
});

test("a command fails if a full disk takes no output, but not if the reader of its output closes the pipe", async () => {
  const print = (output: string) => {
    const file = join(import.meta.dirname, "../../lib/command-line.ts");
    const script = `const { run } = await import(${JSON.stringify(file)}); await run(async () => { for (let n = 0; n < 1e5; n++) console.log(n); });`;
    const command = `"$0" --input-type=module --eval "$1" ${output}; echo "exit code $?"`;
    return spawnSync("/bin/bash", ["-c", command, process.execPath, script], { encoding: "utf8" });
  };
  const full = print("> /dev/full");
  expect(full.stderr).toMatch(/^The output cannot be written: ENOSPC/);
  expect(full.stdout).toBe("exit code 1\n");
  expect(print("| head -1")).toMatchObject({ stdout: "0\nexit code 0\n", stderr: "" });
});
