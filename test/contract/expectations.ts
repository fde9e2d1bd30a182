import { setTimeout } from "node:timers/promises";
import type { HttpResponse } from "./client.ts";

/** A promise that is not kept. */
export class Failure extends Error {
  /** @param where the request, or what was compared */
  constructor(where: string, expected: unknown, seen: unknown) {
    super(`${where}\nexpected ${show(expected)}\nseen     ${show(seen)}`);
  }
}

/**
 * Compares a value: an object may have further properties, as responses may, and a pattern must match a text.
 *
 * @param where the request, or what is compared
 * @throws Failure
 */
export function expectMatch(where: string, seen: unknown, expected: unknown): void {
  if (!matches(seen, expected)) throw new Failure(where, expected, narrow(seen, expected));
}

interface Expected {
  readonly status: number;
  /** A header that must be absent is undefined. */
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** Compares a response, and returns its body. @throws Failure */
export function expectResponse<Body = unknown>(response: HttpResponse, expected: Expected): Body {
  const { request, status, body } = response;
  if (status !== expected.status) throw new Failure(request, expected, { status, body });
  expectMatch(request, response, expected);
  return body as Body;
}

/** How long an index may need to follow a write, in milliseconds. Normally it is a second. */
const latest = 5000;

/** Repeats a check of what an index shows until it passes. @throws the last error */
export async function eventually(check: () => Promise<void>): Promise<void> {
  for (const start = performance.now(); ; await setTimeout(100)) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof Failure) || performance.now() - start > latest) throw error;
    }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

function matches(seen: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return typeof seen === "string" && expected.test(seen);
  if (!isObject(expected)) return Object.is(seen, expected);
  if (!isObject(seen) || Array.isArray(seen) !== Array.isArray(expected)) return false;
  if (Array.isArray(expected) && seen.length !== expected.length) return false;
  return Object.entries(expected).every(([name, value]) => matches(seen[name], value));
}

/** The part of a value that was compared. */
function narrow(seen: unknown, expected: unknown): unknown {
  if (!isObject(seen) || Array.isArray(seen) || !isObject(expected)) return seen;
  return Object.fromEntries(
    Object.entries(expected).map(([name, value]) => [name, narrow(seen[name], value)]),
  );
}

/** The longest text of a value in a message, in characters. */
const longest = 500;

function show(value: unknown): string {
  const toText = (_: string, part: unknown) => (part instanceof RegExp ? String(part) : (part ?? null));
  const text = JSON.stringify(value, toText) ?? "nothing";
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
