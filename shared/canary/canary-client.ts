/** How long a response may take, in milliseconds: a cold start and the retries of a busy table fit in. */
const timeout = 8000;

/** What the canary reads of a response's body. */
interface Body {
  readonly id?: string;
  readonly conversationId?: string;
  readonly data?: readonly { readonly id: string }[];
  readonly pagination?: { readonly total: number };
}

interface CanaryResponse {
  readonly replayed: boolean;
  readonly body: Body;
}

/** The methods of the API that the canary uses. */
export interface CanaryClient {
  get(path: string): Promise<CanaryResponse>;
  post(path: string, body: object, idempotencyKey: string): Promise<CanaryResponse>;
}

/** An error whose code is logged: it names what failed and holds nothing of a response but its status. */
export const failedCheck = (code: string) => Object.assign(new Error("A check failed."), { code });

/**
 * A client of the API at an address, as callers have it. It throws when a response is late, or its status is not the one
 * of a success.
 */
export function canaryClient(url: string, apiKey: string): CanaryClient {
  async function request(path: string, expected: number, init: RequestInit): Promise<CanaryResponse> {
    const response = await fetch(new URL(path, url), {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${apiKey}` },
      redirect: "error",
      signal: AbortSignal.timeout(timeout),
    });
    const text = await response.text();
    if (response.status !== expected)
      throw failedCheck(`${init.method} ${path.split("?")[0]} returned ${response.status}`);
    return {
      replayed: response.headers.get("idempotency-replayed") === "true",
      body: JSON.parse(text),
    };
  }
  return {
    get: (path) => request(path, 200, { method: "GET" }),
    post: (path, body, idempotencyKey) =>
      request(path, 201, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
        body: JSON.stringify(body),
      }),
  };
}
