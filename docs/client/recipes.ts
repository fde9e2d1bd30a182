import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";

/** Where the API is, and an API key of the account. */
export interface Api {
  readonly url: string;
  readonly key: string;
}

export interface Lead {
  readonly id: string;
  readonly name: string;
  readonly email?: string;
  readonly createdAt: string;
}

/** Sends a request again after a network failure, 429 and 5xx: a POST needs an Idempotency-Key for that. */
async function send(
  { url, key }: Api,
  query: string,
  init: RequestInit = {},
  attempt = 1,
): Promise<Response> {
  const headers = { ...init.headers, authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${url}/api/v1/leads${query}`, { ...init, headers }).catch(() => undefined);
  if (response && response.status !== 429 && response.status < 500) return response;
  if (attempt === 10) throw new Error("The API does not respond.");
  await setTimeout(1000 * Number(response?.headers.get("retry-after") ?? attempt));
  return send({ url, key }, query, init, attempt + 1);
}

async function list(api: Api, query: Record<string, string>) {
  const response = await send(api, `?${new URLSearchParams(query)}`);
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as { data: Lead[]; pagination: { total: number } };
}

/** The lead with an email address: the one that exists, or a new one. */
export async function findOrCreateLead(
  api: Api,
  lead: { readonly name: string; readonly email: string },
): Promise<Lead> {
  const address = createHash("sha256").update(lead.email.toLowerCase()).digest("hex");
  for (let attempt = 1; attempt <= 60; attempt++) {
    const { data } = await list(api, { email: lead.email, limit: "1" });
    if (data[0]) return data[0];
    const response = await send(api, "", {
      method: "POST",
      headers: { "idempotency-key": `lead-${address}` },
      body: JSON.stringify(lead),
    });
    if (response.status === 201) return (await response.json()) as Lead;
    if (response.status !== 422) throw new Error(await response.text());
    // Another form has just created the lead, with other fields. The filter finds it soon.
    await setTimeout(1000);
  }
  throw new Error("The lead that another form created is not found.");
}

/** How far the end of a window stays behind the clock, in milliseconds. */
const margin = 10_000;

/** The rows of a request. */
const limit = 100;

/**
 * Passes on the leads that were created since the last synchronization, the newest first; some of them twice.
 *
 * @returns where the next synchronization starts: store it when this one has ended
 */
export async function syncLeads(
  api: Api,
  since: string,
  store: (leads: readonly Lead[]) => Promise<void>,
): Promise<string> {
  const until = new Date(Date.now() - margin).toISOString();
  let before = until;
  while (since < before) {
    const window = { createdAfter: since, createdBefore: before, limit: String(limit) };
    const { data } = await list(api, window);
    await store(data);
    const oldest = data.at(-1)?.createdAt;
    if (oldest === undefined || data.length < limit) return until;
    // The next window has the millisecond of the oldest lead again, because it may have more leads.
    const next = new Date(Date.parse(oldest) + 1).toISOString();
    // Only an import writes so many leads with one time.
    before = next < before ? next : oldest;
  }
  return until > since ? until : since;
}
