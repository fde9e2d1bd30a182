import type { ThrottlingReason } from "../support/dynamodb-limits/throttling-reason.ts";
import type { TableResponse } from "./exchange.ts";

/** A response in DynamoDB's error format. */
const response = (status: number, type: string, body: object): TableResponse => ({
  status,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: Buffer.from(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...body })),
});

const messages = {
  ProvisionedThroughputExceededException:
    "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.",
  ThrottlingException:
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.",
  TransactionConflictException: "Transaction is ongoing for the item",
};

/** The error with which DynamoDB rejects a call. */
export const refusal = (type: keyof typeof messages) => response(400, type, { message: messages[type] });

/**
 * The error for a call that is throttled for a reason. The two exceptions spell the member with the reasons differently.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html#API_PutItem_Errors
 */
export const throttled = (type: ThrottlingType, reason: ThrottlingReason) =>
  response(400, type, {
    message: messages[type],
    [type === "ThrottlingException" ? "throttlingReasons" : "ThrottlingReasons"]: [reason],
  });

export type ThrottlingType = "ThrottlingException" | "ProvisionedThroughputExceededException";

/** The error after which a write may or may not have taken effect. */
export const serverError = () => response(500, "InternalServerError", { message: "Internal server error" });

const reasons = {
  TransactionConflict: messages.TransactionConflictException,
  ProvisionedThroughputExceeded: messages.ProvisionedThroughputExceededException,
  ThrottlingError: messages.ThrottlingException,
};

export type CancellationCode = keyof typeof reasons;

/**
 * The error with which DynamoDB cancels a transaction.
 *
 * @param items how many items the transaction has
 * @param at the index of the item that is the reason
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export function cancellation(code: CancellationCode, items: number, at: number): TableResponse {
  const CancellationReasons = Array.from({ length: items }, (_, index) =>
    index === at ? { Code: code, Message: reasons[code] } : { Code: "None" },
  );
  const codes = CancellationReasons.map(({ Code }) => Code).join(", ");
  const Message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return response(400, "TransactionCanceledException", { CancellationReasons, Message });
}
