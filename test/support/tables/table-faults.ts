import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { vi } from "vitest";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { pick } from "../cases/random.ts";

/** What the SDK's HTTP client resolves with. */
export interface Received {
  readonly response: {
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Readable;
  };
}

// biome-ignore lint/suspicious/noExplicitAny: each operation has its own input.
type Input = any;

/** An attempt of a call of the table, within the SDK's retries. */
export interface Attempt {
  readonly isWrite: boolean;
  /** The request body, parsed. */
  readonly input: Input;
  /** Sends it to the table. */
  forward(): Promise<Received>;
}

const { requestHandler } = table.config;
const forward = requestHandler.handle.bind(requestHandler) as (...args: unknown[]) => Promise<Received>;

/** Lets a function decide the outcome of each attempt of the table's client, until mocks are restored. */
export function interceptAttempts(decide: (attempt: Attempt) => Promise<Received>): void {
  const handle = (
    request: { readonly headers: Record<string, string>; readonly body: Uint8Array },
    options: object,
  ) => {
    const operation = String(request.headers["x-amz-target"]).replace(/^.*\./, "");
    return decide({
      isWrite: operation === "PutItem" || operation === "TransactWriteItems",
      input: JSON.parse(new TextDecoder().decode(request.body)),
      // A response that is not read would keep its connection.
      forward: async () => {
        const { response } = await forward(request, options);
        return { response: { ...response, body: Readable.from([await buffer(response.body)]) } };
      },
    });
  };
  vi.spyOn(requestHandler, "handle").mockImplementation(handle as never);
}

/** A response of DynamoDB. */
export const response = (statusCode: number, body: object): Received => ({
  response: { statusCode, headers: {}, body: Readable.from([Buffer.from(JSON.stringify(body))]) },
});

/** A response in DynamoDB's error format. */
export const errorResponse = (statusCode: number, type: string, body: object = {}) =>
  response(statusCode, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...body });

/** The error with which DynamoDB cancels a transaction because of its first item. */
const cancellation = ({ input: { TransactItems = [] } }: Attempt, Code: string): Received => {
  const none = TransactItems.slice(1).map(() => ({ Code: "None" }));
  return errorResponse(400, "TransactionCanceledException", { CancellationReasons: [{ Code }, ...none] });
};

/** The error of an attempt that got no response in time. */
export const timedOut = () => Object.assign(new Error("no response"), { name: "TimeoutError" });

const connectionLost = () => Object.assign(new Error("aborted"), { code: "ECONNRESET" });

/** Attempts that take effect after the client has timed out. */
const late: Promise<unknown>[] = [];

/** Waits until the late attempts have taken effect. */
export const lateAttempts = () => Promise.all(late.splice(0));

/** Ways in which an attempt fails. After some of them, the call may still have taken effect. */
export const tableFaults: Readonly<Record<string, (attempt: Attempt) => Promise<Received>>> = {
  "lost before": async () => {
    throw connectionLost();
  },
  "lost after": async ({ forward }) => {
    await forward();
    throw connectionLost();
  },
  late: async ({ forward }) => {
    late.push(setTimeout(100 * Math.random()).then(forward));
    throw timedOut();
  },
  "a response that ends too early": async ({ forward }) => {
    const { response } = await forward();
    const body = new Readable({ read: () => void body.destroy(connectionLost()) });
    return { response: { ...response, body } };
  },
  "an error of the server": async ({ forward }) => {
    await forward();
    return errorResponse(500, "InternalServerError");
  },
  throttled: async (attempt) =>
    attempt.input.TransactItems
      ? cancellation(attempt, "ThrottlingError")
      : errorResponse(400, "ThrottlingException"),
  "in conflict": async (attempt) =>
    attempt.input.TransactItems ? cancellation(attempt, "TransactionConflict") : attempt.forward(),
};

/** Makes a fifth of the attempts fail, each in a random way, until mocks are restored. @returns the ways so far */
export function failAtRandom(random: () => number): ReadonlySet<string> {
  const kinds = Object.keys(tableFaults);
  const injected = new Set<string>();
  interceptAttempts((attempt) => {
    if (random() > 0.2) return attempt.forward();
    const kind = pick(random, kinds);
    injected.add(kind);
    return tableFaults[kind]?.(attempt) ?? attempt.forward();
  });
  return injected;
}
