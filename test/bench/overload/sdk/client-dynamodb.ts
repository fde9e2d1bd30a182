import { constructStack } from "@smithy/core/client";
import { getRetryPlugin, resolveRetryConfig } from "@smithy/core/retry";

/**
 * Stands for `@aws-sdk/client-dynamodb` in a simulated execution environment: its middleware, with the SDK's own retries,
 * but without a network.
 */
export class DynamoDBClient {
  readonly config;
  readonly middlewareStack = constructStack();

  /** The defaults are those of the client that is replaced. */
  constructor(config: { readonly maxAttempts?: number } = {}) {
    const defaults = { defaultBaseDelay: 25, defaultMaxAttempts: 4 };
    this.config = resolveRetryConfig({ retryMode: "standard", ...config }, defaults);
    this.middlewareStack.use(getRetryPlugin(this.config));
  }
}

// Imported by the operators' code, and not sent in a simulation.
// The table throws the errors of the SDK itself, so environments must know the same classes.
export {
  ConditionalCheckFailedException,
  DescribeTableCommand,
  InternalServerError,
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  ThrottlingException,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from "@aws-sdk/client-dynamodb";
