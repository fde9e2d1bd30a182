import { messageKey } from "../../../shared/dynamodb/keys.ts";
import { forEachAtRate } from "../import-export/for-each-at-rate.ts";
import { toChanges } from "./changes.ts";
import { readPairs, targetOf, whileItChanges } from "./pairs.ts";
import type { Restoration } from "./restoration.ts";

/** How many messages of one conversation are written at the same time. */
const parallelMessages = 8;

/** The messages that a conversation has in the end. */
export interface Messages {
  readonly count: number;
  /** The time of the last one, if there are any. */
  readonly lastAt: unknown;
  /** Whether the table to restore from lacks some of them. */
  readonly hasNew: boolean;
}

/** Compares the messages of a conversation, and makes them what they should be. @param make how, by default not at all */
export async function restoreMessages(
  restoration: Restoration,
  conversationId: string,
  make: Restoration["make"] = async () => {},
): Promise<Messages> {
  let [count, lastAt, hasNew]: [number, unknown, boolean] = [0, undefined, false];
  const different = async function* () {
    const { pk } = messageKey(restoration.account, conversationId, "");
    for await (const pair of readPairs(restoration, pk)) {
      const target = targetOf(restoration, pair);
      if (target) {
        count += 1;
        lastAt = target.createdAt;
        hasNew ||= !pair.backup;
      }
      if (toChanges(pair.key, pair.live, target).length > 0) yield pair;
    }
  };
  await forEachAtRate(different(), { parallel: parallelMessages }, (pair) =>
    whileItChanges(restoration, pair, (current) =>
      make(toChanges(current.key, current.live, targetOf(restoration, current))),
    ),
  );
  return { count, lastAt, hasNew };
}
