import { randomUUID } from "node:crypto";
import { conversationsPath as conversations, leadsPath as leads } from "../routes.ts";
import { type CanaryClient, FailedCheck } from "./canary-client.ts";

const lead = { name: "Canary", source: "canary" };

/** The least age of rows whose number is compared with a total, in milliseconds: no run adds rows of this age. */
const settled = 10 * 60_000;

function check(holds: boolean, code: string): void {
  if (!holds) throw new FailedCheck(code);
}

/**
 * Uses every route as callers do, and deletes nothing. It lists the rows of earlier runs, creates a lead with a key and one
 * without, repeats the first request, changes a lead of an earlier run, and finds the new leads. It then sends a message
 * with a key, reports its delivery, stores an answer without a key, and finds and ends the conversation.
 *
 * @throws FailedCheck with a code that names the request or the check that failed
 */
export async function runCanary(client: CanaryClient): Promise<void> {
  const { get, post } = client;
  const earlier = await readEarlier(client, leads, "new");
  const ended = await readEarlier(client, conversations, "closed");
  check(
    earlier.rows.every(({ source }) => source === lead.source),
    "The account of the key has other leads",
  );
  const key = `canary-${randomUUID()}`;
  const created = await post(leads, lead, key);
  const repeated = await post(leads, lead, key);
  check(repeated.replayed, "The repeated request was not a replay");
  check(repeated.body.id === created.body.id, "The repeated request returned another lead");
  const other = (await post(`${leads}?ifExists=update`, { ...lead, externalId: created.body.id })).body;
  // The changed lead is old enough to be counted: if its change is not counted, the next run finds a wrong total.
  const known = earlier.rows.filter(({ externalId }) => externalId !== undefined);
  const { id: knownId, externalId } = known[Math.floor(known.length / 2)] ?? other;
  const update = { ...lead, externalId, status: "booked" };
  const changed = await post(`${leads}?ifExists=update`, update, undefined, 200);
  check(changed.body.id === knownId, "The update changed another lead");
  check(changed.body.status === "booked", "The update changed nothing");
  const ids = [other.id, created.body.id];
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
  const closed = await post(`${conversations}?update=conversation`, end, undefined, 200);
  check(closed.body.status === "closed", "The conversation did not end");
  // These checks come last, so that a run still checks the writes while counting has stopped.
  check(earlier.isExact, "The total of leads was wrong");
  check(ended.isExact, "The total of conversations was wrong");
}

/**
 * Reads the newest rows that earlier runs have stored, and whether the total of the rows with a status is exact. The rows
 * come from the table. The total comes from the counts, because its page begins with the oldest row.
 */
async function readEarlier({ get }: CanaryClient, path: string, status: string) {
  const before = new Date(Date.now() - settled).toISOString();
  const { data: rows = [] } = (await get(`${path}?createdBefore=${before}&limit=100`)).body;
  const after = rows.at(-1)?.createdAt ?? new Date(0).toISOString();
  const window = `createdAfter=${after}&createdBefore=${before}`;
  const { pagination } = (await get(`${path}?${window}&status=${status}&sort=createdAt&limit=1`)).body;
  return { rows, isExact: pagination?.total === rows.filter((row) => row.status === status).length };
}
