import { devNull } from "node:os";
import type { LocalFunction } from "../template/functions.ts";
import { localRegion } from "../template/intrinsics.ts";

/** The DynamoDB endpoint of a function, and the access key id by which it identifies itself there. */
export interface DynamoDbAccess {
  readonly endpoint: string;
  readonly accessKeyId: string;
}

/**
 * Builds all environment variables of a function: those that Lambda sets and the function's own, but none of the
 * developer's.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
 */
export const lambdaVariables = (fn: LocalFunction, dynamodb: DynamoDbAccess): Record<string, string> => ({
  AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
  AWS_LAMBDA_FUNCTION_NAME: fn.name,
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(fn.memorySize),
  AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
  AWS_REGION: localRegion,
  AWS_DEFAULT_REGION: localRegion,
  AWS_ACCESS_KEY_ID: dynamodb.accessKeyId,
  AWS_SECRET_ACCESS_KEY: "local",
  AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
  // Without these the SDK would read the developer's own files.
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  LAMBDA_TASK_ROOT: fn.codeDirectory,
  TZ: ":UTC",
  ...fn.environment,
});
