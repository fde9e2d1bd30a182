import { format } from "node:util";
import { afterAll } from "vitest";
import { expectNothingSentIn } from "./leaks.ts";

/** The lines that a test file's process logs. They must not contain anything that `call` sends to its handlers. */
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
