import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { readAccountLimit } from "../../../shared/domain/account-limit.ts";
import { accountLimitKey } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";

/** An account's own limit; `requests` is null if it has the limit of its stage. */
export interface AccountLimit {
  readonly account: string;
  readonly requests: number | null;
}

/** Reads how many requests an account may make in a window, if it has a limit of its own. */
export async function readLimit(account: string): Promise<AccountLimit> {
  return { account, requests: (await readAccountLimit(account)) ?? null };
}

/** Gives an account a limit of its own, or that of its stage again: its keys get it when they are next authorized. */
export async function writeLimit({ account, requests }: AccountLimit): Promise<void> {
  const Key = accountLimitKey(account);
  await (requests === null
    ? table.send(new DeleteCommand({ TableName: tableName, Key }))
    : table.send(new PutCommand({ TableName: tableName, Item: { ...Key, requests } })));
}
