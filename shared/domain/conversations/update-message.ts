import { messageKey } from "../../dynamodb/keys.ts";
import { bodyFault, invalidInput } from "../../errors.ts";
import { isId } from "../../ids.ts";
import {
  deliveryStates,
  type Message,
  type MessageUpdate,
  message as messageSchema,
} from "../../schemas/conversation-schemas.ts";
import { givenUp } from "../../schemas/field-schemas.ts";
import { toRecord } from "../../schemas/record.ts";
import { validateMessage } from "../../schemas/record-validators.ts";
import type { IdempotentRequest, WriteOutcome } from "../idempotent-replay.ts";
import { notFound } from "../not-found.ts";
import { updateRecord } from "../update-record.ts";
import { waitingUpdate } from "./newest-messages.ts";

/**
 * Stores how far the delivery of an outbound message has got. Reports come in any order and more than once: one that is not
 * further than the stored state adds only a missing provider's id, or a missing error of the same state. A message that fails
 * is no reply, so its lead waits again.
 *
 * @throws ApiError `message_not_found`, `invalid_input` for an inbound message, or `idempotency_key_reused`
 * @throws TooManyAtOnceError when other reports of the message win
 */
export async function updateMessage(
  account: string,
  report: MessageUpdate,
  idempotency?: IdempotentRequest,
): Promise<WriteOutcome<Message>> {
  const { id, conversationId } = report;
  if (!isId("conv", conversationId)) throw notFound("message", "conversationId", conversationId);
  if (!isId("msg", id)) throw notFound("message", "id", id);
  const key = messageKey(account, conversationId, id);
  return updateRecord(
    { account, noun: "message", key, conversationId, validate: validateMessage },
    idempotency,
    [],
    async (message) => {
      if (message.direction === "inbound") throw invalidInput([isInbound]);
      const changes = changesBy(message, report);
      const record = toRecord(messageSchema, { ...message, ...changes });
      const isOtherReply = (record.delivery === "failed") !== (message.delivery === "failed");
      return { record, changes, others: isOtherReply ? await waitingUpdate(account, record) : [] };
    },
  );
}

/** The state of a message's delivery. */
type State = { readonly [Name in "delivery" | "deliveryError"]?: unknown };

/** Whether a state of delivery is further than another one. */
export const isFurther = (state: State, than: State) => rankOf(state) > rankOf(than);

const rankOf = (state: State) =>
  isGivenUp(state) ? -0.5 : (deliveryStates as readonly unknown[]).indexOf(state.delivery);

/** Whether the service has given a message up: no report of the API has such an error. */
export const isGivenUp = ({ delivery, deliveryError }: State) =>
  delivery === "failed" && String(deliveryError).startsWith(givenUp);

/** The fields of a message that a report changes; undefined if none. */
function changesBy(message: Message, { delivery, deliveryError, providerId }: MessageUpdate) {
  if (isFurther({ delivery, deliveryError }, message) || isGivenUp(message))
    return { delivery, deliveryError, providerId: providerId ?? message.providerId };
  const added = {
    ...(message.providerId === undefined && providerId !== undefined && { providerId }),
    ...(message.delivery === delivery &&
      message.deliveryError === undefined &&
      deliveryError && { deliveryError }),
  };
  return Object.keys(added).length > 0 ? added : undefined;
}

const isInbound = bodyFault(
  "id",
  "not_allowed",
  "is the id of an inbound message, which has no delivery state",
);
