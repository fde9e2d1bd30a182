import { ulid } from "ulid";
import { writeLimit } from "../../lib/ops/accounts/accounts-settings.ts";
import type { TableOptions } from "../../lib/ops/command/command.ts";
import { selectTableByOptions } from "../../lib/ops/command/select-table.ts";
import { dropTrees } from "../../lib/ops/erasure/drop-trees.ts";
import { erase } from "../../lib/ops/erasure/erase.ts";
import { ItemsToErase } from "../../lib/ops/erasure/items-to-erase.ts";
import { findApiKeyItem, issueApiKey, revokeApiKey } from "../../lib/ops/keys/api-key-changes.ts";
import { listByParent } from "../../lib/ops/table/read-items.ts";
import { deleteItems } from "../../lib/ops/table/write-items.ts";
import type { ApiKey } from "../../shared/domain/api-keys.ts";
import { accountKey, accountPartition, itemTypes } from "../../shared/dynamodb/keys.ts";
import { defaultUnits, type Pace } from "../../shared/dynamodb/pace.ts";
import { inPartition, keysOnly, queryAll } from "../../shared/dynamodb/read-pages.ts";

/** The three accounts of a run. A run writes nothing else to the table. */
export class OwnAccounts {
  readonly mine: string;
  readonly other: string;
  readonly limited: string;
  readonly pace: Pace;

  private constructor(pace: Pace) {
    const run = `accept-${ulid().toLowerCase()}`;
    this.mine = `${run}-1`;
    this.other = `${run}-2`;
    this.limited = `${run}-3`;
    this.pace = pace;
  }

  /** Selects the table for all calls of this process. @throws UserError without a table */
  static async open({ stage, local }: Pick<TableOptions, "stage" | "local">): Promise<OwnAccounts> {
    return new OwnAccounts(await selectTableByOptions({ stage, local, units: defaultUnits }));
  }

  issueKey = (accountId: string, access: ApiKey["access"] = "full") =>
    this.pace.retry(() => issueApiKey(accountId, { access, label: "accept" }));

  revokeKey = (account: string, keyId: string) =>
    this.pace.retry(async () => {
      const item = await findApiKeyItem({ keyId }, account);
      return item && revokeApiKey(item);
    });

  /** Gives an account its own rate limit, in requests of a window. */
  setLimit = (account: string, requests: number) => this.pace.retry(() => writeLimit(account, requests));

  get names(): readonly string[] {
    return [this.mine, this.other, this.limited];
  }

  /**
   * Deletes all items that can be found without reading the whole table. Only items that expire stay: idempotency records
   * and windows of rate limits for a day, empty counts for two days.
   */
  async erase(): Promise<void> {
    const { pace } = this;
    for (const account of this.names) {
      const list = (type: "lead" | "erasedLead") =>
        queryAll({ ...inPartition(accountPartition(type, account)), ...keysOnly }, pace);
      const leads = new Set((await list("lead")).map(({ sk }) => String(sk)));
      if (leads.size > 0) await erase(new ItemsToErase({ account, leads }), { pace, scan: false });
      const isKey = ({ pk }: { readonly pk: string }) => pk.startsWith(`${itemTypes.apiKey}#`);
      const keys = (await listByParent(accountPartition("apiKey", account), pace)).filter(isKey);
      await dropTrees(account, [], pace);
      await deleteItems([...keys, ...(await list("erasedLead")), accountKey(account)], pace);
    }
  }
}
