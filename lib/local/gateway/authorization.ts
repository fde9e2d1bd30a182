import type { Authorizer } from "../template/api-definition.ts";
import { authorizerEvent, type RequestEvent } from "./request-event.ts";

/** What became of a request at its authorizer; `context` is what the route's function is told. */
export type Authorization =
  | { readonly status: 401 | 403 | 500 }
  | { readonly status: 200; readonly context: object };

/** Calls an authorizer's function with its event. */
type Call = (authorizer: Authorizer, payload: string) => Promise<unknown>;

/** Makes the gateway's authorization, which keeps each authorizer's answers, denials too, for its TTL. */
export function createAuthorization(call: Call) {
  const caches = new WeakMap<
    Authorizer,
    Map<string, { readonly until: number; readonly response: Authorization }>
  >();

  return async (authorizer: Authorizer, event: RequestEvent): Promise<Authorization> => {
    const identity = authorizer.identityHeaders.map((name) => event.headers[name] ?? "");
    if (identity.includes("")) return { status: 401 };
    const key = JSON.stringify(identity);
    const cache =
      caches.get(authorizer) ??
      new Map<string, { readonly until: number; readonly response: Authorization }>();
    caches.set(authorizer, cache);
    const kept = cache.get(key);
    if (kept && kept.until > Date.now()) return kept.response;

    const response = await ask(call, authorizer, event, identity);
    if (response.status !== 500)
      cache.set(key, { response, until: Date.now() + authorizer.ttlSeconds * 1000 });
    return response;
  };
}

async function ask(
  call: Call,
  authorizer: Authorizer,
  event: RequestEvent,
  identity: string[],
): Promise<Authorization> {
  try {
    const result = await call(authorizer, JSON.stringify(authorizerEvent(event, identity)));
    const { isAuthorized, context } = (result ?? {}) as { isAuthorized?: unknown; context?: unknown };
    if (isAuthorized === false) return { status: 403 };
    if (isAuthorized !== true || typeof (context ?? {}) !== "object") return { status: 500 };
    return { status: 200, context: (context ?? {}) as object };
  } catch {
    // The pool has logged why.
    return { status: 500 };
  }
}
