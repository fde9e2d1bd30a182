import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

/** Sends again what was not answered, or too early or in vain: a message is sent once, for it has a key of its own. */
async function persistent(request: Request, attempt = 1): Promise<Response> {
  const answer = await fetch(request.clone()).catch((error: unknown) => {
    if (attempt === 5) throw error;
  });
  if (answer && (attempt === 5 || (answer.status !== 429 && answer.status < 500))) return answer;
  await setTimeout(1000 * Number(answer?.headers.get("Retry-After") ?? attempt));
  return persistent(request, attempt + 1);
}

const { API_URL: baseUrl = "http://127.0.0.1:3000", API_KEY } = process.env;
const headers = { Authorization: `Bearer ${API_KEY}` };
const api = createClient<paths>({ baseUrl, headers, fetch: (request) => persistent(request) });

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
