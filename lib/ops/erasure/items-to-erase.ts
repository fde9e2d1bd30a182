import * as keys from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { isRecord } from "../../../shared/json.ts";
import { InvalidItems } from "../table/invalid-items.ts";
import { findOwner } from "../table/item-owner.ts";

/** What is erased: some leads of an account or, without `leads`, the whole account. */
interface Subject {
  readonly account: string;
  readonly leads?: ReadonlySet<string>;
}

/**
 * The items that an erasure finds. An item is deleted only because of its own fields, so no lock, index or partition can
 * cause the deletion of another lead's item.
 */
export class ItemsToErase {
  readonly subject: Subject;
  readonly invalid: InvalidItems;
  /** The number of items to delete, by type. */
  readonly counts: Partial<Record<keys.ItemType, number>> = {};
  /** The partitions with the locks of the leads, and those with the messages of their conversations. */
  readonly #locks: ReadonlySet<string>;
  readonly #messages = new Set<string>();

  constructor(subject: Subject, invalid = new InvalidItems()) {
    this.subject = subject;
    this.invalid = invalid;
    const { account, leads = [] } = subject;
    this.#locks = new Set(Array.from(leads, (id) => keys.activeConversationKey(account, id, "").pk));
  }

  /** Counts the items to delete, and returns them. Conversations must be passed before the items that name them. */
  take(items: readonly Item[]): Item[] {
    return items.filter((item) => {
      const owner = findOwner(item);
      const pk = keys.canonicalPartition(String(item.pk));
      const verdict = owner?.account === this.subject.account && this.#decide(owner.type, { ...item, pk });
      if (typeof verdict === "string") this.invalid.note(item, verdict);
      if (!owner || verdict !== true) return false;
      this.counts[owner.type] = (this.counts[owner.type] ?? 0) + 1;
      return true;
    });
  }

  /** @returns whether to delete the item, or why that is unknown */
  #decide(type: keys.ItemType, { pk, sk, id, leadId, ids, response }: Item): boolean | string {
    const { leads } = this.subject;
    if (!leads) return true;
    switch (type) {
      case "lead":
        return leads.has(String(sk)) || (leads.has(id as string) && "its id is not its sort key");
      case "active":
        return this.#locks.has(String(pk));
      case "externalId":
      case "address":
        return typeof leadId === "string" ? leads.has(leadId) : "its leadId is not a string";
      case "conversation":
        if (typeof leadId !== "string") return "its leadId is not a string";
        if (leads.has(leadId)) this.#messages.add(this.#messagesOf(String(sk)));
        return leads.has(leadId);
      case "message":
        if (typeof leadId !== "string") return "its leadId is not a string";
        return (
          leads.has(leadId) ||
          (this.#messages.has(String(pk)) && "its leadId is not that of its conversation")
        );
      case "idempotency":
        if (!areIds(ids)) return "its ids are not strings";
        // A record with only ids stays: it keeps retries, also of webhooks, from storing the lead or its message again.
        if (response === undefined) return false;
        return leads.has(ids.id) || this.#messages.has(this.#messagesOf(ids.conversationId));
      default:
        return false;
    }
  }

  #messagesOf = (conversationId = "") => keys.messageKey(this.subject.account, conversationId, "").pk;
}

/** Whether an idempotency record with these ids belongs to a lead, not to a message or a conversation. */
export const isOfLead = (ids: unknown) => Object(ids).conversationId === undefined;

/** Whether these are ids of an idempotency record: of a lead, or of a message or conversation with its `conversationId`. */
const areIds = (ids: unknown): ids is { readonly id: string; readonly conversationId?: string } =>
  isRecord(ids) && typeof ids.id === "string" && Object.values(ids).every((id) => typeof id === "string");
