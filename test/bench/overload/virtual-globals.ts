import * as crypto from "node:crypto";
import { createRequire } from "node:module";
import type { VirtualClock } from "./virtual-clock.ts";

/** What of a clock programs can notice. */
export type ProgramClock = Pick<VirtualClock, "now" | "after">;

const realRequire = createRequire(import.meta.url);

/** The variables of the environment of every function. */
const usualEnvironment = { TABLE_NAME: "overload", AWS_REGION: "local" };

/**
 * What code sees in place of the globals and modules that depend on time, on chance or on the process, so that unchanged
 * code runs in virtual time and does the same in every run.
 *
 * @param random gives numbers from 0 to below 1
 * @param environment further environment variables
 * @returns the values by the names of the globals, `require` among them
 */
export function virtualGlobals(
  clock: ProgramClock,
  random: () => number,
  environment: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  const setTimeout = (run: (...args: unknown[]) => void, milliseconds = 0, ...args: unknown[]) =>
    new VirtualTimeout(clock.after(milliseconds, () => run(...args)));
  const clearTimeout = (timer: unknown) => timer instanceof VirtualTimeout && timer.cancel();
  // Ids are generated with it.
  const virtualCrypto = { ...crypto, randomInt: (max: number) => Math.floor(random() * max) };
  const modules: Readonly<Record<string, unknown>> = {
    timers: { setTimeout, clearTimeout },
    "timers/promises": { setTimeout: promisedTimeout(clock) },
    crypto: virtualCrypto,
  };
  const globals: Record<string, unknown> = {
    setTimeout,
    clearTimeout,
    Date: virtualDate(clock),
    Math: Object.assign(Object.create(Math), { random }),
    AbortSignal: virtualAbortSignal(clock),
    performance: { now: () => clock.now },
    crypto: virtualCrypto,
    console: new Proxy({}, { get: () => () => {} }),
    process: Object.create(process, { env: { value: { ...usualEnvironment, ...environment } } }),
    require: (name: string) => modules[name.replace(/^node:/, "")] ?? realRequire(name),
  };
  const globalObject = Object.create(globalThis, Object.getOwnPropertyDescriptors(globals));
  return { ...globals, globalThis: globalObject, global: globalObject };
}

/** The timer that `setTimeout` returns. */
class VirtualTimeout {
  readonly cancel: () => void;

  constructor(cancel: () => void) {
    this.cancel = cancel;
  }

  ref = () => this;
  unref = () => this;
  hasRef = () => true;
}

/** `setTimeout` of `node:timers/promises`. */
function promisedTimeout(clock: ProgramClock) {
  return (milliseconds = 0, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const abort = () => reject(new DOMException("The operation was aborted", "AbortError"));
      if (signal?.aborted) return abort();
      const cancel = clock.after(milliseconds, () => resolve(value));
      signal?.addEventListener("abort", () => {
        cancel();
        abort();
      });
    });
}

function virtualDate(clock: ProgramClock) {
  return class extends Date {
    constructor(...args: [] | ConstructorParameters<typeof Date>) {
      if (args.length === 0) super(Math.floor(clock.now));
      else super(...(args as ConstructorParameters<typeof Date>));
    }

    static override now = () => Math.floor(clock.now);
  };
}

function virtualAbortSignal(clock: ProgramClock) {
  return {
    abort: (reason?: unknown) => AbortSignal.abort(reason),
    any: (signals: AbortSignal[]) => AbortSignal.any(signals),
    timeout(milliseconds: number) {
      const controller = new AbortController();
      clock.after(milliseconds, () => controller.abort(new DOMException("Timed out", "TimeoutError")));
      return controller.signal;
    },
    [Symbol.hasInstance]: (value: unknown) => value instanceof AbortSignal,
  };
}
