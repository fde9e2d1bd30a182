import { afterAll, afterEach, expect, vi } from "vitest";

// The test files of a worker share its process. Each file gets its own modules, except those of packages and of Node.js.
vi.resetModules();
// Vitest records 100 frames of each error. Tests create very many errors, so this takes a tenth of the time.
Error.stackTraceLimit = 10;

const env = { ...process.env };
const before = readState();

/** Each test starts with real functions and the real clock, except for what a file replaces before its tests. */
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The next file starts with the same environment. A file that leaves other changes fails. */
afterAll(() => {
  vi.unstubAllGlobals();
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);

  const changed = [...readState()].filter(([name, value]) => !Object.is(value, before.get(name)));
  // A package may define globals when it is first imported.
  const left = changed.filter(([name]) => before.has(name) || !name.startsWith("global."));
  expect(left.map(([name]) => name)).toEqual([]);
});

/** The state that code can change for the whole process: its directory, its listeners and its globals. */
function readState(): ReadonlyMap<string, unknown> {
  const globals = Object.entries({ global: globalThis, console, Math }).flatMap(([name, object]) =>
    Object.entries(Object.getOwnPropertyDescriptors(object)).map(
      ([property, { value }]) => [`${name}.${property}`, value] as const,
    ),
  );
  // Packages may add an exit listener to remove their files.
  const events = process.eventNames().filter((name) => name !== "exit");
  const listeners = events.map((name) => [`on ${String(name)}`, process.listenerCount(name)] as const);
  return new Map<string, unknown>([["directory", process.cwd()], ...globals, ...listeners]);
}
