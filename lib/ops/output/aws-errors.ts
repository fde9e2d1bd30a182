import { classify, isBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { InvalidItemError } from "../../../shared/errors.ts";
import { errorCode, UserError } from "../../user-error.ts";

/** A `UserError` for an error that the operator can fix, such as missing credentials or an invalid item; any other error as it is. */
export async function toUserError(error: unknown): Promise<unknown> {
  const sentence = await toSentence(error);
  return sentence === undefined ? error : new UserError(sentence, { cause: error });
}

async function toSentence(error: unknown): Promise<string | undefined> {
  if (!(error instanceof Error) || error instanceof UserError) return undefined;
  const { name, message } = error;
  if (classify(error) === "conflict")
    return "Other writers kept changing the same items: run the command again.";
  if (error instanceof InvalidItemError)
    return `The item ${error.pk} ${error.sk} is not valid: its ${error.field} is invalid. Correct or delete it in the table.`;
  switch (name) {
    case "DamagedTreeError":
      return message;
    case "ResourceNotFoundException":
      return `There is no table ${tableName} in the region ${await table.config.region()}: check --stage or --table, and the region, which the stage's file or AWS_REGION sets.`;
    case "CredentialsProviderError":
    case "TokenProviderError":
      return `No AWS credentials were found (${message}): set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`;
    case "UnrecognizedClientException":
    case "InvalidClientTokenId":
    case "ExpiredTokenException":
    case "InvalidSignatureException":
      return `AWS rejected the credentials: ${message}`;
    case "AccessDeniedException":
      return `AWS denied access: ${message}`;
  }
  if (/^Region (?:is missing|not accepted)/.test(message))
    return "No valid AWS region is configured: set AWS_REGION, or AWS_PROFILE to a profile with a region.";
  if (!isBusy(error)) return undefined;
  const code = errorCode(error);
  if (code === undefined && name !== "TimeoutError")
    return `DynamoDB is busy (${name}): run the command again.`;
  return `DynamoDB cannot be reached (${message || code}): check the network, the region and AWS_ENDPOINT_URL_DYNAMODB.`;
}
