/** A class that no function needs: the SDK constructs it only for other operations, settings or versions of Node.js. */
class Unused {
  constructor() {
    throw new Error(
      "The SDK needs a class that this bundle does not have: see lib/bundling/lambda-modules.ts.",
    );
  }
}

export {
  Unused as AdaptiveRetryStrategy,
  Unused as DefaultRateLimiter,
  Unused as EventStreamSerde,
  Unused as Sha256Js,
};

/** The signer constructs it, and calls it for streams of events. */
export class HeaderFormatter {}
