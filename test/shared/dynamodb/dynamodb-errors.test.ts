import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import {
  isRetryable,
  isWriteConflict,
  StaleReadError,
  UnknownOutcomeError,
} from "../../../shared/dynamodb/dynamodb-errors.ts";
import { isBusy, isTableBusy } from "../../../shared/dynamodb/throttling.ts";
import { ApiError } from "../../../shared/errors.ts";
import { canceled } from "../../support/cancellation.ts";

const named = (name: string) => Object.assign(new Error("inside"), { name });
const conditionFailed = new ConditionalCheckFailedException({ message: "inside", $metadata: {} });

test.each([
  // [error, retryable, table busy, busy, write conflict]
  [new StaleReadError(), true, false, true, false],
  [canceled("None", "TransactionConflict"), true, false, true, true],
  [canceled("ThrottlingError"), true, false, true, false],
  [canceled("ProvisionedThroughputExceeded"), true, false, true, false],
  [canceled("ConditionalCheckFailed"), false, false, false, true],
  [canceled("ValidationError"), false, false, false, false],
  [named("ThrottlingException"), false, true, true, false],
  [named("ProvisionedThroughputExceededException"), false, true, true, false],
  [named("RequestLimitExceeded"), false, true, true, false],
  [named("TimeoutError"), false, true, true, false],
  [Object.assign(new Error("inside"), { code: "ECONNRESET" }), false, true, true, false],
  [Object.assign(new Error("inside"), { $metadata: { httpStatusCode: 500 } }), false, true, true, false],
  [named("TransactionConflictException"), false, false, false, true],
  [new UnknownOutcomeError("inside"), false, false, false, false],
  [conditionFailed, false, false, false, true],
  [named("ValidationException"), false, false, false, false],
  [new ApiError("lead_not_found", "inside"), false, false, false, false],
  ["text", false, false, false, false],
  [undefined, false, false, false, false],
  [null, false, false, false, false],
])("%o is classified", (error, ...expected) => {
  const classes = [isRetryable, isTableBusy, isBusy, isWriteConflict].map((is) => is(error));
  expect(classes).toEqual(expected);
});
