import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
  ThrottlingException,
} from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import {
  classify,
  isBusy,
  isContended,
  StaleReadError,
  TooExpensiveError,
  TooManyAtOnceError,
} from "../../../shared/dynamodb/dynamodb-errors.ts";
import { ApiError } from "../../../shared/errors.ts";
import { canceled } from "../../support/tables/cancellation.ts";

const named = (name: string, more = {}) => Object.assign(new Error("inside"), { name, ...more });
const ofAws = { message: "inside", $metadata: {} };
const ofKey = [{ reason: "TableWriteKeyRangeThroughputExceeded" }];
const ofTable = [{ reason: "TableWriteMaxOnDemandThroughputExceeded" }];

test.each([
  [new StaleReadError(), "conflict"],
  [new ConditionalCheckFailedException(ofAws), "conflict"],
  [named("TransactionConflictException"), "conflict"],
  [canceled("None", "TransactionConflict"), "conflict"],
  [canceled("ConditionalCheckFailed"), "conflict"],
  [canceled("ThrottlingError", "ConditionalCheckFailed"), "conflict"],
  [canceled("ThrottlingError"), "transaction-throttled"],
  [canceled("ProvisionedThroughputExceeded"), "transaction-throttled"],
  [new ThrottlingException({ ...ofAws, throttlingReasons: ofKey }), "key-throttled"],
  [new ProvisionedThroughputExceededException({ ...ofAws, ThrottlingReasons: ofKey }), "key-throttled"],
  [new ThrottlingException(ofAws), "key-throttled"],
  [new ThrottlingException({ ...ofAws, throttlingReasons: [] }), "key-throttled"],
  [new ProvisionedThroughputExceededException({ ...ofAws, ThrottlingReasons: [] }), "key-throttled"],
  [new ThrottlingException({ ...ofAws, throttlingReasons: ofTable }), "throttled"],
  [new ProvisionedThroughputExceededException({ ...ofAws, ThrottlingReasons: ofTable }), "throttled"],
  [named("ThrottlingException"), "throttled"],
  [named("RequestLimitExceeded"), "throttled"],
  [named("TimeoutError"), "unreachable"],
  [named("TransactionInProgressException", { $metadata: {} }), "unreachable"],
  [named("Error", { code: "ECONNRESET" }), "unreachable"],
  [named("Error", { $metadata: { httpStatusCode: 500 } }), "unreachable"],
  [new TooManyAtOnceError("inside"), "too-many-at-once"],
  [new TooExpensiveError("too_slow", "inside"), "too-expensive"],
  [named("AccessDeniedException", { $metadata: {} }), "refused"],
  [canceled("ValidationError"), "refused"],
  [named("ValidationException", { $metadata: {} }), "invalid"],
  [new ApiError("lead_not_found", "inside"), "invalid"],
  [new TypeError("inside"), "invalid"],
  ["text", "invalid"],
  [undefined, "invalid"],
  [null, "invalid"],
])("%o is %s", (error, kind) => {
  expect(classify(error)).toBe(kind);
  const ofAccount = ["conflict", "transaction-throttled", "key-throttled", "too-many-at-once"];
  expect(isContended(error)).toBe(ofAccount.includes(kind));
  expect(isBusy(error)).toBe([...ofAccount, "throttled", "unreachable", "too-expensive"].includes(kind));
});
