/** How long a response may take, in milliseconds: a cold start and the retries of a busy table fit in. */
const timeout = 8000;

/** What the canary reads of a response's body. */
interface Body {
  readonly id?: string;
  readonly score?: number;
  readonly conversationId?: string;
  readonly data?: readonly { readonly id: string; readonly messageCount?: number }[];
  readonly pagination?: { readonly total: number };
}

interface CanaryResponse {
  readonly replayed: boolean;
  readonly body: Body;
}

/** The methods of the API that the canary uses. */
export interface CanaryClient {
  get(path: string): Promise<CanaryResponse>;
  /** @param expected the status of a success, 201 by default */
  post(path: string, body: object, idempotencyKey?: string, expected?: number): Promise<CanaryResponse>;
}

/** An error whose code is logged: it names what failed and holds nothing of a response but its status. */
export class FailedCheck extends Error {
  readonly code: string;

  constructor(code: string) {
    super("A check failed.");
    this.code = code;
  }
}

/**
 * A client of the API at an address, as callers have it. It throws a `FailedCheck` when a response is late, is not of this
 * API, or its status is not the one of a success. It follows no redirect, because its key must not go to another address.
 */
export function canaryClient(url: string, apiKey: string): CanaryClient {
  async function request(path: string, expected: number, init: RequestInit): Promise<CanaryResponse> {
    const isWithoutKey = init.method === "POST" && !new Headers(init.headers).has("idempotency-key");
    const name = `${init.method} ${path.split("?")[0]}${isWithoutKey ? " without a key" : ""}`;
    const { response, text } = await send(new URL(path, url), {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${apiKey}` },
      redirect: "manual",
      signal: AbortSignal.timeout(timeout),
    }).catch((error: unknown) => {
      throw new FailedCheck(`${name} got no response (${connectionCode(error)})`);
    });
    const { status } = response;
    const body = parseObject(text);
    if (status !== expected) throw new FailedCheck(`${name} returned ${status}`);
    if (!("id" in body || "data" in body)) throw new FailedCheck(`${name} returned ${status} without data`);
    return { replayed: response.headers.get("idempotency-replayed") === "true", body };
  }
  return {
    get: (path) => request(path, 200, { method: "GET" }),
    post: (path, body, idempotencyKey, expected = 201) =>
      request(path, expected, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
        },
        body: JSON.stringify(body),
      }),
  };
}

async function send(url: URL, init: RequestInit) {
  const response = await fetch(url, init);
  return { response, text: await response.text() };
}

/** The code of a network error, which `fetch` has as the cause of its own, or the name of the error. */
function connectionCode(error: unknown): string {
  const { name, code } = (
    error instanceof TypeError && error.cause ? error.cause : error
  ) as NodeJS.ErrnoException;
  return typeof code === "string" ? code : name;
}

function parseObject(text: string): Body {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
