import { createLeadRoute, sendMessageRoute } from "../routes.ts";
import { type CanaryClient, FailedCheck } from "./canary-client.ts";

function check(holds: boolean, code: string): void {
  if (!holds) throw new FailedCheck(code);
}

/**
 * Creates a lead, repeats the request, finds the lead, lists leads, sends a message and finds its conversation.
 *
 * The idempotency keys of a day are the same, so that a day adds one lead and one message, and all later runs replay
 * them. A replay also tries to write.
 *
 * @param day such as 2026-11-21: a key is valid for 24 hours
 * @throws Error with a code that names the request or the check that failed
 */
export async function runCanary({ get, post }: CanaryClient, day: string): Promise<void> {
  const [leads, conversations] = [createLeadRoute.path, sendMessageRoute.path];
  const key = `canary-${day}`;
  const lead = { name: "Canary", source: "canary" };
  const created = await post(leads, lead, key);
  const repeated = await post(leads, lead, key);
  check(repeated.replayed, "The repeated request was not a replay");
  check(repeated.body.id === created.body.id, "The repeated request returned another lead");
  const found = await get(`${leads}?id=${created.body.id}`);
  check(found.body.data?.[0]?.id === created.body.id, "The lead was not found");
  const { body: page } = await get(`${leads}?limit=1`);
  check(page.data?.length === 1 && (page.pagination?.total ?? 0) >= 1, "The list of leads was empty");
  const message = { leadId: created.body.id, channel: "canary", message: "Canary" };
  const sent = await post(conversations, message, key);
  const conversation = await get(`${conversations}?id=${sent.body.conversationId}`);
  check(conversation.body.data?.[0]?.id === sent.body.conversationId, "The conversation was not found");
}
