import { ulid } from "ulid";
import { writeLimit } from "../../lib/ops/accounts/accounts-settings.ts";
import type { TableOptions } from "../../lib/ops/command/command.ts";
import { selectTableByOptions } from "../../lib/ops/command/select-table.ts";
import { dropTrees } from "../../lib/ops/erasure/drop-trees.ts";
import { erase } from "../../lib/ops/erasure/erase.ts";
import { ItemsToErase } from "../../lib/ops/erasure/items-to-erase.ts";
import { findApiKeyItem, issueApiKey, revokeApiKey } from "../../lib/ops/keys/api-key-changes.ts";
import { isApiKey } from "../../lib/ops/table/item-owner.ts";
import { listByParent } from "../../lib/ops/table/read-items.ts";
import { deleteItems } from "../../lib/ops/table/write-items.ts";
import type { ApiKey } from "../../shared/domain/api-keys.ts";
import { accountKey, accountPartition } from "../../shared/dynamodb/keys.ts";
import { defaultUnits, type Pace } from "../../shared/dynamodb/pace.ts";
import { inPartition, keysOnly, queryAll } from "../../shared/dynamodb/read-pages.ts";

/**
 * Selects the table for all calls of this process.
 *
 * @returns the three accounts of a run, which writes nothing else to the table
 * @throws UserError without a table
 */
export async function openAccounts({ stage, local }: Pick<TableOptions, "stage" | "local">) {
  const pace = await selectTableByOptions({ stage, local, units: defaultUnits });
  const run = `accept-${ulid().toLowerCase()}`;
  const [mine, other, limited] = [`${run}-1`, `${run}-2`, `${run}-3`];
  const names = [mine, other, limited];
  return {
    ...{ mine, other, limited, names, pace },
    issueKey: (accountId: string, access: ApiKey["access"] = "full") =>
      pace.retry(() => issueApiKey(accountId, { access, label: "accept" })),
    revokeKey: (account: string, keyId: string) =>
      pace.retry(async () => {
        const item = await findApiKeyItem({ keyId }, account);
        return item && revokeApiKey(item);
      }),
    /** Gives an account its own rate limit, in requests of a window. */
    setLimit: (account: string, requests: number) => pace.retry(() => writeLimit(account, requests)),
    erase: async () => {
      for (const account of names) await eraseOwn(account, pace);
    },
  };
}

/**
 * Deletes all items of an account. Only items that expire stay: idempotency records and windows of rate limits for a day,
 * empty counts for two days.
 */
async function eraseOwn(account: string, pace: Pace): Promise<void> {
  const list = (type: "lead" | "erasedLead") =>
    queryAll({ ...inPartition(accountPartition(type, account)), ...keysOnly }, pace);
  const leads = new Set((await list("lead")).map(({ sk }) => String(sk)));
  if (leads.size > 0) await erase(new ItemsToErase({ account, leads }), pace);
  const keys = (await listByParent(accountPartition("apiKey", account), pace)).filter(isApiKey);
  await dropTrees(account, [], pace);
  await deleteItems([...keys, ...(await list("erasedLead")), accountKey(account)], pace);
}
