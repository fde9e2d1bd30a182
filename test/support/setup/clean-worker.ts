import { afterAll, afterEach, vi } from "vitest";

// The test files of a worker share its process. Each file gets its own modules, except those of packages and of Node.js.
vi.resetModules();
// Vitest records 100 frames of each error. Tests create very many errors, so this takes a tenth of the time.
Error.stackTraceLimit = 10;

const env = { ...process.env };

/** Each test starts with real functions and the real clock, except for what a file replaces before its tests. */
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The next file starts with the same environment. */
afterAll(() => {
  vi.unstubAllGlobals();
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
});
