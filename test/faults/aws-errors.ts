import type { TableResponse } from "./exchange.ts";

/** A response in DynamoDB's error format. */
export const errorResponse = (status: number, type: string, body: object): TableResponse => ({
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
export const refusal = (type: keyof typeof messages) => errorResponse(400, type, { message: messages[type] });

/** The error after which a write may or may not have taken effect. */
export const serverError = () =>
  errorResponse(500, "InternalServerError", { message: "Internal server error" });

const reasons = {
  TransactionConflict: messages.TransactionConflictException,
  ProvisionedThroughputExceeded: messages.ProvisionedThroughputExceededException,
  ThrottlingError: messages.ThrottlingException,
};

/**
 * The error with which DynamoDB cancels a transaction.
 *
 * @param items how many items the transaction has
 * @param at the index of the item that is the reason
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export function cancellation(code: keyof typeof reasons, items: number, at: number): TableResponse {
  const CancellationReasons = Array.from({ length: items }, (_, index) =>
    index === at ? { Code: code, Message: reasons[code] } : { Code: "None" },
  );
  const codes = CancellationReasons.map(({ Code }) => Code).join(", ");
  const Message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return errorResponse(400, "TransactionCanceledException", { CancellationReasons, Message });
}
