/**
 * The retries of the SDK that slow all calls down. Replaces them, with the rate limiter that they bring.
 *
 * Safe: the SDK constructs them if the variable AWS_RETRY_MODE or a setting says so, and no function sets one.
 */
export class AdaptiveRetryStrategy {
  constructor() {
    throw new Error("Bundles have no adaptive retries: see lib/bundling/lambda-modules/adaptive-retries.ts.");
  }
}
