import { format } from "node:util";
import { afterAll } from "vitest";
import { expectNothingSentIn } from "./leaks.ts";

/** What `call` sends to the handlers in a test file's own process must not be in what that process logs. */
const lines: string[] = [];
const original = { ...console };
for (const method of ["debug", "log", "info", "warn", "error"] as const) {
  console[method] = (...args: unknown[]) => {
    lines.push(format(...args));
    original[method](...args);
  };
}

afterAll(() => {
  Object.assign(console, original);
  expectNothingSentIn(lines);
});
