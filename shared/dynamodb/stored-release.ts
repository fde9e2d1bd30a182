import { releaseKey } from "./keys.ts";

/**
 * The number of the format of stored data: the items of the table with their keys and attributes. A release that stores
 * an item, a key or an attribute that the release before does not store has the next number.
 */
export const dataFormat = 1;

/** The parameters of UpdateItem by which the table knows its release; what else the item has stays. */
export const recordRelease = (TableName: string, release: string) => ({
  TableName,
  Key: { pk: { S: releaseKey.pk }, sk: { S: releaseKey.sk } },
  UpdateExpression: "SET releaseName = :release, dataFormat = :dataFormat",
  ExpressionAttributeValues: { ":release": { S: release }, ":dataFormat": { N: String(dataFormat) } },
});
