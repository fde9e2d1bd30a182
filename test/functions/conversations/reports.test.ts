import type { DynamoDBRecord } from "aws-lambda";
import { expect, test } from "vitest";
import { toEvents } from "../../../shared/domain/events.ts";
import type { Message } from "../../../shared/schemas/conversation-schemas.ts";
import { aLead, aMessage, messagesOf, report } from "../../support/requests/requests.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

const account = "acme";

/** How far a message has got, in ascending order. */
const deliveries = ["sent", "failed", "delivered", "read"] as const;
const template = { name: "welcome", language: "en" };
type State = Pick<Message, "delivery" | "deliveryError" | "providerId">;

/** The message that a report must leave. */
function reported({ delivery, deliveryError, ...message }: Message, state: State): Message {
  const rank = (reached?: Message["delivery"]) => (reached ? deliveries.indexOf(reached) : -1);
  if (rank(state.delivery) > rank(delivery)) return { ...message, ...state };
  const error = deliveryError ?? (delivery === "failed" ? state.deliveryError : undefined);
  return { ...state, ...message, delivery, deliveryError: error };
}

test("two reports of a message never move its delivery back, and only a change publishes an event", async () => {
  const records: DynamoDBRecord[] = [];
  new WatchedTable(records);
  const { id: leadId } = await aLead(account);
  const states: State[] = deliveries.flatMap((delivery) => {
    const error = delivery === "failed" && { deliveryError: "131047" };
    return [{ delivery }, { delivery, providerId: `wamid.${delivery}`, ...error }];
  });
  for (const pair of states.flatMap((first) => states.map((second) => [first, second]))) {
    let message = await aMessage(account, leadId, "whatsapp", { template, metadata: { a: "1" } });
    const { id: messageId, conversationId, channel } = message;
    for (const state of pair) {
      const before = message;
      message = reported(before, state);
      records.length = 0;
      const { status, body } = await report(account, message, state);
      expect([pair, status, body]).toEqual([pair, 200, message]);
      expect((await messagesOf(account, conversationId))[0]).toEqual(message);
      const fields = ["delivery", "deliveryError", "providerId"] as const;
      const changed = fields.filter((name) => before[name] !== message[name]);
      const event = { type: "message.updated", leadId, conversationId, messageId, channel };
      const told = expect.objectContaining({ ...event, changed, message });
      expect(toEvents(records)).toEqual(changed.length > 0 ? [told] : []);
    }
  }
});

test("a report of an inbound message is refused", async () => {
  new WatchedTable();
  const { id } = await aLead(account);
  const message = await aMessage(account, id, "sms", { direction: "inbound" });
  const { problem } = await report(account, message, { delivery: "sent" });
  expect(problem.errors).toMatchObject([{ field: "id", code: "not_allowed" }]);
});
