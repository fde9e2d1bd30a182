import { ifValid } from "../dynamodb/invalid-items.ts";
import { type Item, type Key, readItem } from "../dynamodb/table-client.ts";
import { withBackoff } from "../dynamodb/throttling.ts";
import type { TransactItems } from "../dynamodb/transact.ts";
import { buildUpdate } from "../dynamodb/updates.ts";
import type { Message } from "../schemas/conversation-schemas.ts";
import { readRecord } from "../schemas/record.ts";
import type { Validator } from "../schemas/validator.ts";
import {
  type IdempotentRequest,
  readResponse,
  runIdempotently,
  updateOnce,
  type WriteOutcome,
} from "./idempotent-replay.ts";
import { leadExists } from "./leads.ts";
import { markChange } from "./marked-change.ts";
import { notFound } from "./not-found.ts";

interface Updated<T> {
  readonly account: string;
  readonly noun: "conversation" | "message";
  readonly key: Key;
  readonly conversationId: string;
  readonly validate: Validator<T>;
}

interface RecordChange<T> {
  readonly record: T;
  /** The attributes that differ; undefined if nothing does. */
  readonly changes?: Item | undefined;
  /** What is written and checked together with the attributes. */
  readonly others?: TransactItems;
}

/**
 * Updates a record of a lead once, on the condition that it is as it was read. An invalid item counts as missing.
 *
 * @param unchanged the attributes that the update depends on
 * @param change throws an ApiError if the record cannot be changed like this
 * @throws ApiError `conversation_not_found`, `message_not_found` or `idempotency_key_reused`
 * @throws TooManyAtOnceError when other writes of the record win
 */
export const updateRecord = <
  T extends Pick<Message, "id" | "leadId"> & Partial<Pick<Message, "conversationId">>,
>(
  { account, noun, key, conversationId, validate }: Updated<T>,
  idempotency: IdempotentRequest | undefined,
  unchanged: readonly string[],
  change: (record: T) => RecordChange<T> | Promise<RecordChange<T>>,
): Promise<WriteOutcome<T>> =>
  withBackoff(`${key.pk} ${key.sk}`, `Too many requests update this ${noun} at once.`, () =>
    runIdempotently(
      idempotency,
      {},
      (_, stored) => ({ record: readResponse(validate, stored), made: "changed" }),
      async () => {
        const item = await readItem(key);
        const found = item && ifValid(() => readRecord(validate, item));
        if (!found || found.id !== key.sk || (found.conversationId ?? found.id) !== conversationId)
          throw notFound(noun, "id", key.sk);
        const { record, changes, others = [] } = await change(found);
        // An erasure waits for requests that have found the lead, and then also deletes what they have stored.
        const storesMore = idempotency !== undefined || others.some(({ Put }) => Put);
        if (storesMore && !(await leadExists(account, found.leadId))) throw notFound(noun, "id", key.sk);
        const conditions = Object.fromEntries([...unchanged, "changeId"].map((name) => [name, item[name]]));
        const marked = changes && markChange(item, changes, validate.properties);
        const update = marked && buildUpdate(key, marked, conditions);
        // An erasure finds the record of the request by the id of the conversation.
        await updateOnce(idempotency, { id: key.sk, conversationId }, record, update, others);
        return { record, made: "changed" };
      },
    ),
  );
