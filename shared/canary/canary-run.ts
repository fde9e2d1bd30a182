import { randomUUID } from "node:crypto";
import { conversationsPath as conversations, leadsPath as leads } from "../routes.ts";
import { type CanaryClient, FailedCheck } from "./canary-client.ts";
import { deleteEarlierRows } from "./earlier-rows.ts";

function check(holds: boolean, code: string): void {
  if (!holds) throw new FailedCheck(code);
}

/**
 * Uses every route as callers do: lists leads, creates one with a key and one without, repeats the first request, changes
 * the second lead, finds both, sends a message with a key and one without, and finds their conversation. Before it writes, it deletes what
 * earlier runs have written, so that its account does not grow.
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
  const { conversationId } = (await post(conversations, message, key)).body;
  const next = await post(conversations, message);
  check(next.body.conversationId === conversationId, "The second message started another conversation");
  const [conversation] = (await get(`${conversations}?id=${conversationId}`)).body.data ?? [];
  check(conversation?.id === conversationId, "The conversation was not found");
  check(conversation?.messageCount === 2, "The conversation did not have both messages");
  // Last: while counting has stopped, a run still checks the writes.
  check(page.pagination?.total === stored, "The total of leads was not their number");
  check(page.data?.length === Math.min(stored, 1), "The list of leads was empty");
}
