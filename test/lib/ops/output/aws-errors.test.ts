import { expect, test } from "vitest";
import { toUserError } from "../../../../lib/ops/output/aws-errors.ts";
import { UserError } from "../../../../lib/user-error.ts";
import { StaleReadError } from "../../../../shared/dynamodb/dynamodb-errors.ts";
import { ApiError } from "../../../../shared/errors.ts";

const sdkError = (name: string, message: string, properties = {}) =>
  Object.assign(new Error(message), { name, ...properties });
const unreachable = "check the network, the region and AWS_ENDPOINT_URL_DYNAMODB.";
const access = (what: string) =>
  `AWS cannot be used (${what}): check AWS_PROFILE, AWS_REGION and what they permit.`;
const throttled = sdkError("ThrottlingException", "Rate exceeded");

test.each([
  [sdkError("ExpiredTokenException", "Expired."), access("ExpiredTokenException: Expired.")],
  [sdkError("UnrecognizedClientException", "Invalid."), access("UnrecognizedClientException: Invalid.")],
  [sdkError("InvalidClientTokenId", "Unknown."), access("InvalidClientTokenId: Unknown.")],
  [
    sdkError("TimeoutError", "Timed out"),
    `AWS or the local run cannot be reached (Timed out): ${unreachable}`,
  ],
  [
    // Node.js reports a refused `localhost`, which has two addresses, without a message.
    Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }),
    `AWS or the local run cannot be reached (ECONNREFUSED): ${unreachable}`,
  ],
  [throttled, "DynamoDB is busy (ThrottlingException): run the command again."],
  [new StaleReadError(), "Other writers kept changing the same items: run the command again."],
])("%o becomes a UserError", async (error, message) => {
  expect(await toUserError(error)).toEqual(new UserError(message));
});

test.each([
  new TypeError("x is not a function"),
  sdkError("ValidationException", "Invalid expression"),
  sdkError("Error", "ENOENT: no such file", { code: "ENOENT" }),
  new ApiError("internal_error", "inside"),
  new UserError("The host cannot be reached.", { cause: throttled }),
  "text",
])("%o stays as it is", async (error) => {
  expect(await toUserError(error)).toBe(error);
});
