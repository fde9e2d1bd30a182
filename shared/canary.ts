import { randomUUID } from "node:crypto";
import { parseJson } from "./json.ts";
import { conversationsPath as conversations, leadsPath as leads } from "./routes.ts";

/** How long a response may take, in milliseconds: a cold start and the retries of a busy table fit in. */
const responseTimeout = 8000;

/** The least age of rows whose number is compared with a total, in milliseconds: no run adds rows of this age. */
const settled = 10 * 60_000;

const lead = { name: "Canary", source: "canary" };

type Field = "id" | "source" | "externalId" | "conversationId" | "delivery" | "status" | "createdAt";

/** What the canary reads of a lead, a message or a conversation. */
type Row = Readonly<Partial<Record<Field, string>>> & { readonly messageCount?: number };

/** What the canary reads of a response's body. */
type Body = Row & { readonly data?: readonly Row[]; readonly pagination?: { readonly total: number } };

/** @throws an error whose code is logged: it names what failed, and contains nothing of a response except its status */
function check(holds: unknown, code: string): asserts holds {
  if (!holds) throw Object.assign(new Error("A check failed."), { code });
}

/**
 * Uses every route as callers do, and deletes nothing. It lists the rows of earlier runs, creates a lead with a key and one
 * without, repeats the first request, changes a lead of an earlier run, and finds the new leads. It then sends a message
 * with a key, reports its delivery, stores an answer without a key, and finds and ends the conversation.
 *
 * @throws an error with a code that names the request or the check that failed
 */
export async function runCanary(url: string, apiKey: string | undefined): Promise<void> {
  check(apiKey, "The parameter of the key is empty");
  const { get, post } = createClient(url, apiKey);
  const earlier = await readEarlier(get, leads, "new");
  const ended = await readEarlier(get, conversations, "closed");
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
async function readEarlier(get: Client["get"], path: string, status: string) {
  const before = new Date(Date.now() - settled).toISOString();
  const { data: rows = [] } = (await get(`${path}?createdBefore=${before}&limit=100`)).body;
  const after = rows.at(-1)?.createdAt ?? new Date(0).toISOString();
  const window = `createdAfter=${after}&createdBefore=${before}`;
  const { pagination } = (await get(`${path}?${window}&status=${status}&sort=createdAt&limit=1`)).body;
  return { rows, isExact: pagination?.total === rows.filter((row) => row.status === status).length };
}

/**
 * A client of the API, as callers use one. A request fails the check if its response is late, does not come from this API,
 * or has an unexpected status. It follows no redirect, because its key must not go to another address.
 */
function createClient(url: string, apiKey: string) {
  const authorization = `Bearer ${apiKey}`;
  async function request(name: string, path: string, expected: number, init: RequestInit) {
    const signal = AbortSignal.timeout(responseTimeout);
    const response = await fetch(new URL(path, url), { ...init, redirect: "manual", signal });
    const { status, headers } = response;
    const body: Body = Object(parseJson(await response.text()));
    check(status === expected, `${name} returned ${status}`);
    check("id" in body || "data" in body, `${name} returned ${status} without data`);
    return { replayed: headers.get("idempotency-replayed") === "true", body };
  }
  return {
    get: (path: string) => request(`GET ${path.split("?")[0]}`, path, 200, { headers: { authorization } }),
    /** @param expected the status of a success */
    post(path: string, body: object, idempotencyKey?: string, expected = 201) {
      const headers = new Headers({ authorization, "content-type": "application/json" });
      if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
      const name = `POST ${path.split("?")[0]}${idempotencyKey === undefined ? " without a key" : ""}`;
      return request(name, path, expected, { method: "POST", headers, body: JSON.stringify(body) });
    },
  };
}

type Client = ReturnType<typeof createClient>;
