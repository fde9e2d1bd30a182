import { DescribeTableCommand, ResourceNotFoundException } from "@aws-sdk/client-dynamodb";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import type { Pace } from "../pace.ts";
import { tableTime } from "../table-clock.ts";

/** How long ago the time of a restored table must be, in milliseconds: younger items would make their events again. */
const leastAge = 60_000;

/**
 * Checks the table to restore from.
 *
 * @param at the time whose data it has, in milliseconds since the epoch; by default that of its point in time or backup
 * @returns that time
 * @throws UserError when nothing can be restored from it
 */
export async function checkBackupTable(from: string, at: number | undefined, pace: Pace): Promise<number> {
  const { Table = {} } = await pace
    .retry(() => table.send(new DescribeTableCommand({ TableName: from })))
    .catch((error: unknown) => {
      if (error instanceof ResourceNotFoundException)
        throw new UserError(`There is no table ${from} to restore from.`);
      throw error;
    });
  if (Table.TableName === tableName)
    throw new UserError(`${from} is the live table itself: name the table that was restored beside it.`);
  if (Table.TableStatus !== "ACTIVE")
    throw new UserError(`The table ${from} is ${Table.TableStatus}: wait until it is ACTIVE.`);
  const keys = Table.KeySchema?.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).join(", ");
  if (keys !== "pk HASH, sk RANGE")
    throw new UserError(`The table ${from} has other keys (${keys}): it is not a copy of the live table.`);
  const { RestoreDateTime, SourceTableArn } = Table.RestoreSummary ?? {};
  const source = SourceTableArn?.split("/")[1];
  if (source !== undefined && source !== tableName)
    throw new UserError(
      `The table ${from} was restored from ${source}, not from ${tableName}: name another one.`,
    );
  const time = at ?? RestoreDateTime?.getTime();
  if (time === undefined)
    throw new UserError(
      `DynamoDB does not know of which time the data of the table ${from} is: name the time with --at.`,
    );
  if (RestoreDateTime && time > RestoreDateTime.getTime())
    throw new UserError(
      `The data of the table ${from} is of ${RestoreDateTime.toISOString()}: --at must not be later.`,
    );
  if (time <= tableTime() - leastAge) return time;
  throw new UserError("The time of --at must be at least a minute ago.");
}
