import {
  CreateTableCommand,
  DescribeTableCommand,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import { isRecord } from "../../../shared/json.ts";
import { errorMessage, UserError } from "../../user-error.ts";
import type { TableDefinition } from "../template/table-definition.ts";
import { engineClient } from "./dynamodb-client.ts";

/**
 * Creates the table at an endpoint if it does not exist.
 *
 * @returns the ARN of its stream
 * @throws UserError when the table exists with other keys, indexes or stream settings, or the engine does not respond
 */
export async function prepareTable(definition: TableDefinition, endpoint: string): Promise<string> {
  const { input, TimeToLiveSpecification } = definition;
  const { TableName } = input;
  const client = engineClient(endpoint);
  try {
    const expire = new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification });
    const created = client.send(new CreateTableCommand(input)).then(() => client.send(expire));
    await created.catch((error: unknown) => {
      if (error instanceof ResourceInUseException) return;
      throw new UserError(`The DynamoDB at ${endpoint} failed: ${errorMessage(error)}.`);
    });
    const { Table = {} } = await client.send(new DescribeTableCommand({ TableName }));
    // The engine returns the billing mode in another form.
    const { BillingMode, ...shape } = input;
    if (!isAsDefined(shape, Table))
      throw new UserError(
        `The table ${TableName} has other keys, indexes or another stream than the stack defines now: delete it, or set DATA_DIR to another directory.`,
      );
    return String(Table.LatestStreamArn);
  } finally {
    client.destroy();
  }
}

/** Whether a part of a table is as defined. Lists may have any order, and the engine may return further fields. */
function isAsDefined(defined: unknown, actual: unknown): boolean {
  if (Array.isArray(defined))
    return (
      defined.length === Object(actual).length &&
      defined.every((part) => (actual as unknown[]).some((other) => isAsDefined(part, other)))
    );
  if (!isRecord(defined)) return defined === actual;
  return Object.entries(defined).every(([name, part]) => isAsDefined(part, Object(actual)[name]));
}
