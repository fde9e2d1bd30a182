/**
 * The strategy of adaptive retries. Replaces the SDK's, with its rate limiter.
 *
 * Safe: the SDK constructs it only if a variable or a setting of the client chooses the mode `adaptive`, and functions
 * have neither. Each request would fail with this error.
 */
export class AdaptiveRetryStrategy {
  constructor() {
    throw new Error("Bundles have no adaptive retries: see lib/bundling/lambda-modules/adaptive-retries.ts.");
  }
}
