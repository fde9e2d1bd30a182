import { Duration } from "aws-cdk-lib";

/**
 * How the readers of the table's stream retry a failed batch: by its age alone, because AWS does not say how soon attempts
 * follow each other (docs/assumptions.md#retry-pauses). After half of the stream's 24 hours the batch goes to the failure queue, while the stream still has it.
 */
export const streamRetries = {
  maxAge: Duration.hours(12),
  /** Not limited. It is set and not left out, so that an update of a stack with a limit removes it. */
  attempts: -1,
};
