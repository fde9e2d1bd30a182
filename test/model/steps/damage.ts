import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { accountPartition, nodePrefix } from "../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { account, owner } from "../rows.ts";
import type { DamageEvent } from "../scenario.ts";
import { findItem } from "../tree-check.ts";

/** The command that deletes the root or the oldest node of a tree's last generation; undefined if there is none. */
export function damage(items: readonly Item[], { what, source }: DamageEvent) {
  const tree = source === undefined ? owner : labelTreeOf(source);
  const root = findItem(items, tree, "root");
  const { pk, sk } = treeKey(tree, `${nodePrefix}${root?.generation}#`);
  const item = what === "root" ? root : items.find((it) => it.pk === pk && String(it.sk).startsWith(sk));
  if (!item) return undefined;
  return new DeleteCommand({ TableName: tableName, Key: { pk: item.pk, sk: item.sk } });
}

const labelTreeOf = (source: string): CountedOwner => ({
  ...owner,
  labelKey: accountPartition(owner.list.type, account, source),
});
