import { randomUUID } from "node:crypto";
import { conversationsPath as conversations, leadsPath as leads } from "../routes.ts";
import { type CanaryClient, FailedCheck } from "./canary-client.ts";
import { deleteEarlierRows } from "./earlier-rows.ts";

function check(holds: boolean, code: string): void {
  if (!holds) throw new FailedCheck(code);
}

/**
 * Uses every route as callers do: lists leads, creates one with a key and one without, repeats the first request, changes
 * the second lead, finds both, sends a message with a key, reports its delivery, stores an answer without a key, and finds and
 * ends their conversation. Before it writes, it deletes what earlier runs have written, so that its account does not grow.
 *
 * @param account the one of the client's key
 * @throws FailedCheck with a code that names the request or the check that failed
 */
export async function runCanary({ get, post }: CanaryClient, account: string): Promise<void> {
  const { body: page } = await get(`${leads}?limit=1`);
  const deletion = deleteEarlierRows("conversation", account).then(() => deleteEarlierRows("lead", account));
  const stored = await deletion.catch((error: Error) => {
    throw new FailedCheck(`The rows of earlier runs were not deleted (${error.name})`);
  });
  const key = `canary-${randomUUID()}`;
  const lead = { name: "Canary", source: "canary" };
  const created = await post(leads, lead, key);
  const repeated = await post(leads, lead, key);
  check(repeated.replayed, "The repeated request was not a replay");
  check(repeated.body.id === created.body.id, "The repeated request returned another lead");
  // Whoever deletes the first lead can tell the external id of the second.
  const update = { ...lead, externalId: created.body.id };
  const other = await post(`${leads}?ifExists=update`, update);
  const changed = await post(`${leads}?ifExists=update`, { ...update, score: 1 }, undefined, 200);
  check(changed.body.id === other.body.id, "The update changed another lead");
  check(changed.body.score === 1, "The update changed nothing");
  const ids = [other.body.id, created.body.id];
  const found = (await get(`${leads}?id=${ids}`)).body.data?.map(({ id }) => id);
  check(found?.length === 2 && ids.every((id) => found.includes(String(id))), "The leads were not found");
  const message = { leadId: created.body.id, channel: "canary", message: "Canary" };
  const { id, conversationId } = (await post(conversations, message, key)).body;
  const report = { id, conversationId, delivery: "delivered" };
  const delivered = await post(`${conversations}?update=message`, report, undefined, 200);
  check(delivered.body.delivery === "delivered", "The report of the delivery changed nothing");
  const answer = await post(conversations, { ...message, direction: "inbound" });
  check(answer.body.conversationId === conversationId, "The answer started another conversation");
  await get(`${conversations}?awaitingReply=true&limit=1`);
  const [conversation] = (await get(`${conversations}?id=${conversationId}`)).body.data ?? [];
  check(conversation?.id === conversationId, "The conversation was not found");
  check(conversation?.messageCount === 2, "The conversation did not have both messages");
  const end = { id: conversationId, status: "closed" };
  const ended = await post(`${conversations}?update=conversation`, end, undefined, 200);
  check(ended.body.status === "closed", "The conversation did not end");
  // Last: while counting has stopped, a run still checks the writes.
  check(page.pagination?.total === stored, "The total of leads was not their number");
  check(page.data?.length === Math.min(stored, 1), "The list of leads was empty");
}
