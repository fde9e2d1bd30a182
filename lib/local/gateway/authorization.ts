import type { Authorizer } from "../template/api-definition.ts";
import type { Invoke } from "../template/functions.ts";
import { buildAuthorizerEvent, type RequestEvent } from "./request-event.ts";

/** The result of an authorizer: why it refuses the caller, for the log, or a context, for the route's function. */
type Authorization =
  | { readonly status: 401 | 403 | 500; readonly reason?: string | undefined }
  | { readonly status: 200; readonly context: object };

interface CachedAuthorization {
  readonly authorization: Authorization;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Creates the gateway's authorization, which caches each authorizer's responses, denials too, for its TTL. */
export function createAuthorization(invoke: Invoke) {
  const caches = new WeakMap<Authorizer, Map<string, CachedAuthorization>>();

  return async (authorizer: Authorizer, event: RequestEvent): Promise<Authorization> => {
    const identity = authorizer.identityHeaders.map((name) => event.headers[name] ?? "");
    if (identity.includes(""))
      return { status: 401, reason: `no ${authorizer.identityHeaders.join(" or ")} header` };
    const key = JSON.stringify(identity);
    const cache = caches.get(authorizer) ?? new Map<string, CachedAuthorization>();
    caches.set(authorizer, cache);
    const cached = cache.get(key);
    if (cached && cached.expiresAt > Date.now()) return cached.authorization;

    const payload = JSON.stringify(buildAuthorizerEvent(event, identity));
    // A function that fails has logged the cause.
    const authorization = await invoke(authorizer.function, payload).then(toAuthorization, failed);
    if (authorization.status !== 500)
      cache.set(key, { authorization, expiresAt: Date.now() + authorizer.ttlSeconds * 1000 });
    return authorization;
  };
}

const failed = (): Authorization => ({ status: 500 });

interface Denied {
  readonly reason?: string;
}

/** Reads a simple response; an invalid one is a failure of the authorizer. */
function toAuthorization(response: unknown): Authorization {
  const { isAuthorized, context } = (response ?? {}) as { isAuthorized?: unknown; context?: unknown };
  if (typeof (context ?? {}) !== "object") return failed();
  if (isAuthorized === false) return { status: 403, reason: (context as Denied)?.reason };
  if (isAuthorized !== true) return failed();
  return { status: 200, context: (context ?? {}) as object };
}
