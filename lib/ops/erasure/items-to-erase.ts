import { activeConversationKey, canonicalPartition, messageKey } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { isRecord } from "../../../shared/json.ts";
import { InvalidItems } from "../table/invalid-items.ts";
import { findOwner, type OwnedItemType } from "../table/item-owner.ts";

/** Whose data is erased: that of some leads of an account, or, without leads, the whole account. */
export interface Subject {
  readonly account: string;
  readonly leads?: ReadonlySet<string>;
}

/**
 * What an erasure finds. Each item decides by its own fields whether it is deleted: no lock, index or partition can name
 * an item of another lead for deletion.
 */
export class ItemsToErase {
  readonly subject: Subject;
  readonly invalid: InvalidItems;
  /** How many items there are to delete, by their types. */
  readonly counts: Partial<Record<OwnedItemType, number>> = {};
  /** The partitions of the locks of the leads, and of the messages of their conversations. */
  readonly #locks: ReadonlySet<string>;
  readonly #messages = new Set<string>();

  constructor(subject: Subject, invalid = new InvalidItems()) {
    this.subject = subject;
    this.invalid = invalid;
    const { account, leads = [] } = subject;
    this.#locks = new Set(Array.from(leads, (id) => activeConversationKey(account, id, "").pk));
  }

  /** Counts items. Conversations come before what names them. @returns those to delete */
  take(items: readonly Item[]): Item[] {
    return items.filter((item) => {
      const owner = findOwner(item);
      const pk = canonicalPartition(String(item.pk));
      const verdict = owner?.account === this.subject.account && this.#decide(owner.type, { ...item, pk });
      if (typeof verdict === "string") this.invalid.note(item, verdict);
      if (!owner || verdict !== true) return false;
      this.counts[owner.type] = (this.counts[owner.type] ?? 0) + 1;
      return true;
    });
  }

  /** @returns whether the item is deleted, or why nobody can tell */
  #decide(type: OwnedItemType, { pk, sk, id, leadId, ids, response }: Item): boolean | string {
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
        // What has only ids keeps retries, also of webhooks, from storing the lead or its message again.
        if (response === undefined) return false;
        return leads.has(ids.id) || this.#messages.has(this.#messagesOf(ids.conversationId));
      default:
        return false;
    }
  }

  #messagesOf = (conversationId = "") => messageKey(this.subject.account, conversationId, "").pk;
}

/** Whether the record of a request with these ids is of a lead, and not of a message or a conversation. */
export const isOfLead = (ids: unknown) => Object(ids).conversationId === undefined;

/** Whether these are the ids of what a request made or changed: of a lead, a message or a conversation, with that of its conversation. */
const areIds = (ids: unknown): ids is { readonly id: string; readonly conversationId?: string } =>
  isRecord(ids) && typeof ids.id === "string" && Object.values(ids).every((id) => typeof id === "string");
