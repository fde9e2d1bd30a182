/** What no function needs: the SDK has it for other operations, settings or versions of Node.js. */
export function unused(): never {
  throw new Error(
    "The SDK needs something that this bundle does not have: see lib/bundling/lambda-modules.ts.",
  );
}

export {
  unused as AdaptiveRetryStrategy,
  unused as DefaultRateLimiter,
  unused as EventStreamSerde,
  unused as paginateQuery,
  unused as paginateScan,
  unused as Sha256Js,
};

/** The signer constructs it, and calls it for streams of events. */
export class HeaderFormatter {}
