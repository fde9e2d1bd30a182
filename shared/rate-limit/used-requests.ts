import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { classify, TooManyAtOnceError } from "../dynamodb/dynamodb-errors.ts";
import { type Key, table, tableName } from "../dynamodb/table-client.ts";

/**
 * Adds to the used requests of a window, unless that would exceed the limit.
 *
 * The SDK does not retry a throttled call: the throttle itself shows that too many callers add to the same item.
 *
 * @throws TooManyAtOnceError after one attempt
 */
export async function addUsed(
  key: Key,
  { count, requests, expiresAt }: { count: number; requests: number; expiresAt: number },
  abortSignal?: AbortSignal,
): Promise<{ added: boolean; used: number }> {
  const command = new UpdateCommand({
    TableName: tableName,
    Key: key,
    UpdateExpression: "ADD used :count SET expiresAt = :end",
    ConditionExpression: "attribute_not_exists(used) OR used <= :most",
    ExpressionAttributeValues: { ":count": count, ":most": requests - count, ":end": expiresAt },
    ReturnValues: "UPDATED_NEW",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  command.middlewareStack.add(
    (next) => (args) =>
      next(args).catch((error: unknown) => {
        throw classify(error) === "key-throttled"
          ? new TooManyAtOnceError("The item is throttled.", { cause: error })
          : error;
      }),
    // Inside the SDK's retries: the SDK does not retry an error that it does not know.
    { step: "finalizeRequest", priority: "low" },
  );
  try {
    const { Attributes } = await table.send(command, abortSignal ? { abortSignal } : {});
    return { added: true, used: Number(Attributes?.used) };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { added: false, used: Number(error.Item?.used?.N ?? requests) };
  }
}
