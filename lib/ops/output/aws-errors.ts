import { classify, isBusy } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { InvalidItemError } from "../../../shared/errors.ts";
import { errorCode, UserError } from "../../user-error.ts";

/** A `UserError` for an error that the operator can fix, such as missing credentials or an invalid item; any other error as it is. */
export async function toUserError(error: unknown): Promise<unknown> {
  const sentence = await toSentence(error);
  return sentence === undefined ? error : new UserError(sentence, { cause: error });
}

/** The names of errors without credentials, with ones that AWS rejects, or that lack a permission. */
const isOfAccess =
  /^(?:Credentials|Token|AccessDenied|UnrecognizedClient|InvalidClientToken|ExpiredToken|InvalidSignature)/;

async function toSentence(error: unknown): Promise<string | undefined> {
  if (!(error instanceof Error) || error instanceof UserError) return undefined;
  const { name, message } = error;
  if (classify(error) === "conflict")
    return "Other writers kept changing the same items: run the command again.";
  if (error instanceof InvalidItemError)
    return `The item ${error.pk} ${error.sk} is not valid: its ${error.field} is invalid. Correct or delete it in the table.`;
  if (name === "DamagedTreeError") return message;
  if (name === "ResourceNotFoundException")
    return `There is no table ${tableName} in the region ${await table.config.region()}: check --stage or --table, and the region, which the stage's file or AWS_REGION sets.`;
  if (isOfAccess.test(name) || message.startsWith("Region "))
    return `AWS cannot be used (${name}: ${message}): check AWS_PROFILE, AWS_REGION and what they permit.`;
  if (!isBusy(error)) return undefined;
  const code = errorCode(error);
  if (code === undefined && name !== "TimeoutError")
    return `DynamoDB is busy (${name}): run the command again.`;
  return `AWS or the local run cannot be reached (${message || code}): check the network, the region and AWS_ENDPOINT_URL_DYNAMODB.`;
}
