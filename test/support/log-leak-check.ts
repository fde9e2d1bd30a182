import { format } from "node:util";
import { afterAll, expect } from "vitest";
import { leaksIn } from "./leaks.ts";
import { sent } from "./sent.ts";

/** Nothing that `call` sends to the handlers in a test file's own process may be in what that process logs. */
const lines: string[] = [];
for (const method of ["debug", "log", "info", "warn", "error"] as const) {
  const write = console[method].bind(console);
  console[method] = (...given: unknown[]) => {
    lines.push(format(...given));
    write(...given);
  };
}

afterAll(() => expect(leaksIn(lines, sent)).toEqual([]));
