import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

/** Retries network failures, 429 and 5xx. Safe for POST, because each message has an idempotency key. */
async function fetchWithRetry(request: Request, attempt = 1): Promise<Response> {
  const response = await fetch(request.clone()).catch((error: unknown) => {
    if (attempt === 5) throw error;
  });
  if (response && (attempt === 5 || (response.status !== 429 && response.status < 500))) return response;
  await setTimeout(1000 * Number(response?.headers.get("Retry-After") ?? attempt));
  return fetchWithRetry(request, attempt + 1);
}

const { API_URL: baseUrl = "http://127.0.0.1:3000", API_KEY } = process.env;
const headers = { Authorization: `Bearer ${API_KEY}` };
const api = createClient<paths>({ baseUrl, headers, fetch: (request) => fetchWithRetry(request) });

for (let page = 1, last = 1; page <= last; page++) {
  const query = { source: "website", page, limit: 100 };
  const { data: leads, error } = await api.GET("/api/v1/leads", { params: { query } });
  if (!leads) throw new Error(JSON.stringify(error));
  last = Math.ceil(leads.pagination.total / query.limit);
  for (const { id: leadId, name } of leads.data) {
    const header = { "Idempotency-Key": `welcome-${leadId}` };
    const body = { leadId, channel: "whatsapp", message: `Hello ${name}` };
    const { data: sent, error } = await api.POST("/api/v1/conversations", { params: { header }, body });
    console.log(sent?.conversationId ?? JSON.stringify(error));
  }
}
