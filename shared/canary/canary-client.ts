import { parseJson } from "../json.ts";

/** How long a response may take, in milliseconds: a cold start and the retries of a busy table fit in. */
const responseTimeout = 8000;

/** What the canary reads of a lead, a message or a conversation. */
interface Row {
  readonly id?: string;
  readonly source?: string;
  readonly externalId?: string;
  readonly conversationId?: string;
  readonly delivery?: string;
  readonly status?: string;
  readonly createdAt?: string;
  readonly messageCount?: number;
}

/** What the canary reads of a response's body. */
interface Body extends Row {
  readonly data?: readonly Row[];
  readonly pagination?: { readonly total: number };
}

/** An error whose code is logged. The code names what failed, and contains nothing of a response except its status. */
export class FailedCheck extends Error {
  readonly code: string;

  constructor(code: string) {
    super("A check failed.");
    this.code = code;
  }
}

export type CanaryClient = ReturnType<typeof canaryClient>;

/**
 * A client of the API, as callers use one. It throws a `FailedCheck` when a response is late, does not come from this API,
 * or has an unexpected status. It follows no redirect, because its key must not go to another address.
 */
export function canaryClient(url: string, apiKey: string) {
  const authorization = `Bearer ${apiKey}`;
  async function request(name: string, path: string, expected: number, init: RequestInit) {
    const signal = AbortSignal.timeout(responseTimeout);
    const [response, text] = await fetch(new URL(path, url), { ...init, redirect: "manual", signal })
      .then(async (response) => [response, await response.text()] as const)
      .catch((error: unknown) => {
        throw new FailedCheck(`${name} got no response (${connectionCode(error)})`);
      });
    const { status, headers } = response;
    const body: Body = Object(parseJson(text));
    if (status !== expected) throw new FailedCheck(`${name} returned ${status}`);
    if (!("id" in body || "data" in body)) throw new FailedCheck(`${name} returned ${status} without data`);
    return { replayed: headers.get("idempotency-replayed") === "true", body };
  }
  return {
    get: (path: string) => request(`GET ${path.split("?")[0]}`, path, 200, { headers: { authorization } }),
    /** @param expected the status of a success */
    post(path: string, body: object, idempotencyKey?: string, expected = 201) {
      const headers = new Headers({ authorization, "content-type": "application/json" });
      if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
      const name = `POST ${path.split("?")[0]}${idempotencyKey === undefined ? " without a key" : ""}`;
      return request(name, path, expected, { method: "POST", headers, body: JSON.stringify(body) });
    },
  };
}

/** The code of a network error, which is the cause of the error from `fetch`, or else the name of the error. */
function connectionCode(error: unknown): string {
  const { name, code } = (
    error instanceof TypeError && error.cause ? error.cause : error
  ) as NodeJS.ErrnoException;
  return typeof code === "string" ? code : name;
}
