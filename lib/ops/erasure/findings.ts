import { activeConversationKey, messageKey } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { isRecord } from "../../is-record.ts";
import { findOwner, type ItemType } from "../accounts/account-items.ts";
import { formatColumns } from "../common/columns.ts";

/** Whose data is erased: that of some leads of an account, or, without leads, the whole account. */
export interface Subject {
  readonly account: string;
  readonly leads?: ReadonlySet<string>;
}

/** How many unreadable items are shown. */
const shown = 5;

/** Items that an erasure has left as they are, because they do not say whose they are, by their keys. */
export class Unreadable extends Map<string, { type: string; pk: unknown; sk: unknown; reason: string }> {
  note = (item: Item, reason: string): void => {
    const { pk, sk } = item;
    this.set(`${pk} ${sk}`, { type: findOwner(item)?.type ?? "unknown", pk, sk, reason });
  };

  describe(): string {
    const items = formatColumns([...this.values()].slice(0, shown));
    const more = this.size > shown ? `\nand ${this.size - shown} more` : "";
    return `These items could not be read and were left as they are:\n${items}${more}`;
  }

  /** @param again how to erase what is left @throws UserError if there are any */
  check(again: string): void {
    if (this.size === 0) return;
    const hint = `They may name what was to be erased. Correct or delete them in the table, then run ${again}`;
    throw new UserError(`${this.describe()}\n${hint}`);
  }
}

/**
 * What an erasure finds. Each item decides by its own fields whether it is deleted: no pointer, index or partition can name
 * an item of another lead for deletion.
 */
export class Findings {
  readonly subject: Subject;
  readonly unreadable: Unreadable;
  /** How many items there are to delete, by their types. */
  readonly counts: Partial<Record<ItemType, number>> = {};
  /** The partitions of the pointers of the leads, and of the messages of their conversations. */
  readonly #pointers: ReadonlySet<string>;
  readonly #messages = new Set<string>();

  constructor(subject: Subject, unreadable = new Unreadable()) {
    this.subject = subject;
    this.unreadable = unreadable;
    const { account, leads = [] } = subject;
    this.#pointers = new Set(Array.from(leads, (id) => activeConversationKey(account, id, "").pk));
  }

  /** How many items there are to delete, without those of trees: an erased account keeps two. */
  get total(): number {
    const { count, ...others } = this.counts;
    return Object.values(others).reduce((sum, number) => sum + number, 0);
  }

  /** Counts items. Conversations come before what names them. @returns those to delete */
  take(items: readonly Item[]): Item[] {
    return items.filter((item) => {
      const owner = findOwner(item);
      const verdict = owner?.account === this.subject.account && this.#decide(owner.type, item);
      if (typeof verdict === "string") this.unreadable.note(item, verdict);
      if (!owner || verdict !== true) return false;
      this.counts[owner.type] = (this.counts[owner.type] ?? 0) + 1;
      return true;
    });
  }

  /** @returns whether the item is deleted, or why nobody can tell */
  #decide(type: ItemType, { pk, sk, id, leadId, ids }: Item): boolean | string {
    const { leads } = this.subject;
    if (!leads) return true;
    switch (type) {
      case "lead":
        return leads.has(String(sk)) || (leads.has(String(id)) && "its id is not its sort key");
      case "active":
        return this.#pointers.has(String(pk));
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
        return leads.has(ids.id) || this.#messages.has(this.#messagesOf(ids.conversationId));
      default:
        return false;
    }
  }

  #messagesOf = (conversationId = "") => messageKey(this.subject.account, conversationId, "").pk;
}

/** Whether these are the ids of what a request made: of a lead, or of a message and its conversation. */
const areIds = (ids: unknown): ids is { readonly id: string; readonly conversationId?: string } =>
  isRecord(ids) && typeof ids.id === "string" && Object.values(ids).every((id) => typeof id === "string");
