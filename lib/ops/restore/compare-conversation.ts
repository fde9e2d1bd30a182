import {
  conversationItem,
  isNotActive,
  pointerNames,
  toConversation,
} from "../../../shared/domain/conversations.ts";
import { activeConversationKey, conversationKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { TransactItems } from "../../../shared/dynamodb/transact.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import { type Change, toChanges } from "./changes.ts";
import { type Pair, readPair } from "./pairs.ts";
import { isNew, type Restoration } from "./restoration.ts";
import { restoreMessages } from "./restore-messages.ts";

/** The status of a restored conversation in whose place a newer one is active. */
const ended = "closed";

/** What becomes of a conversation and of the pointer of its lead on its channel. */
interface Comparison {
  /** The conversation in the end, if it exists then. */
  readonly target?: Item | undefined;
  readonly changes: readonly Change[];
  readonly checks?: TransactItems;
  /** Another conversation, still active, that has to be restored before. */
  readonly first?: Pair | undefined;
}

/**
 * Compares a conversation, when its messages are what they should be.
 *
 * @param make how its messages become that, by default not at all
 */
export async function compareConversation(
  restoration: Restoration,
  pair: Pair,
  make?: Restoration["make"],
): Promise<Comparison> {
  const { key, backup, live } = pair;
  if (!backup && isNew(restoration, key.sk)) return { target: live, changes: [] };
  const { count, lastAt, hasNew } = await restoreMessages(restoration, key.sk, make);
  const counted = count > 0 ? { messageCount: count, lastMessageAt: lastAt } : {};
  if (backup) return compareRestored(restoration, pair, { ...backup, ...counted });
  // It cannot go while it has messages that stay.
  if (!live || hasNew) return toComparison(pair, live && { ...live, ...counted });
  const pointer = (await readPointers(restoration, live)).live;
  const named = pointer?.conversationId === key.sk ? pointer : undefined;
  return {
    changes: [{ key, live }, ...(named ? [{ key: pointerKey(restoration, live), live: named }] : [])],
  };
}

const toComparison = ({ key, live }: Pair, target: Item | undefined): Comparison => ({
  target,
  changes: toChanges(key, live, target),
});

/** Compares a conversation that both tables should have. @param restored without what its pointer makes of it */
async function compareRestored(restoration: Restoration, pair: Pair, restored: Item): Promise<Comparison> {
  const { account } = restoration;
  const { key, live } = pair;
  const id = key.sk;
  const pointers = await readPointers(restoration, restored);
  const named = pointers.live?.conversationId;
  // Imports make pointers of active conversations only.
  const isNamed = pointers.backup ? pointers.backup.conversationId === id : restored.status === active;
  const other =
    isNamed && named !== undefined && named !== id
      ? await compareOther(restoration, String(named), restored)
      : undefined;
  const isOwner = isNamed && other?.target?.status !== active;
  const status = restored.status === active && !isOwner ? ended : restored.status;
  const conversation = toConversation({ ...restored, status });
  const target = { ...restored, ...conversationItem(account, conversation) };
  if (!isOwner) return toComparison(pair, target);
  const pointer = pointers.backup ?? { ...pointers.key, conversationId: id };
  const pointerChanges = toChanges(pointers.key, pointers.live, pointer);
  const becomesActive = status === active && live?.status !== active;
  return {
    target,
    changes: [...toChanges(key, live, target), ...pointerChanges],
    checks: [
      ...(other ? [isNotActive(account, other.id)] : []),
      ...(becomesActive && pointerChanges.length === 0
        ? [{ ConditionCheck: { TableName: tableName, Key: pointers.key, ...pointerNames(id) } }]
        : []),
    ],
    first: other?.live?.status === active ? other.pair : undefined,
  };
}

/** The conversation that the pointer names in place of the compared one, if it is of the same lead and channel. */
async function compareOther(restoration: Restoration, id: string, compared: Item) {
  const pair = await readPair(restoration, conversationKey(restoration.account, id));
  const { leadId, channel } = pair.backup ?? pair.live ?? {};
  if (leadId !== compared.leadId || channel !== compared.channel) return undefined;
  const { target } = await compareConversation(restoration, pair);
  return { id, pair, live: pair.live, target };
}

const pointerKey = ({ account }: Restoration, { leadId, channel }: Item) =>
  activeConversationKey(account, String(leadId), String(channel));

const readPointers = (restoration: Restoration, conversation: Item) =>
  readPair(restoration, pointerKey(restoration, conversation));
