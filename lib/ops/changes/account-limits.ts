import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { accountLimitKey } from "../../../shared/dynamodb/keys.ts";
import { readItem, table, tableName } from "../../../shared/dynamodb/table-client.ts";

/** An account's own limit; `requests` is null if it has the limit of its stage. */
export interface AccountLimit {
  readonly account: string;
  readonly requests: number | null;
}

/** Reads how many requests an account may make in a window, if it has a limit of its own. */
export async function readLimit(account: string): Promise<AccountLimit> {
  const item = await readItem(accountLimitKey(account));
  return { account, requests: item ? Number(item.requests) : null };
}

/** Gives an account a limit of its own, or that of its stage again. Functions notice it within a minute. */
export async function writeLimit({ account, requests }: AccountLimit): Promise<void> {
  const Key = accountLimitKey(account);
  await (requests === null
    ? table.send(new DeleteCommand({ TableName: tableName, Key }))
    : table.send(new PutCommand({ TableName: tableName, Item: { ...Key, requests } })));
}
