import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.d.ts";

const { API_URL = "http://127.0.0.1:3000", API_KEY } = process.env;
const api = createClient<paths>({ baseUrl: API_URL, headers: { Authorization: `Bearer ${API_KEY}` } });

/** Every lead from a source, page after page. */
async function* leadsFrom(source: string) {
  for (let page = 1; ; page++) {
    const query = { source, page, limit: 100 };
    const { data, error } = await api.GET("/api/v1/leads", { params: { query } });
    if (!data) throw new Error(JSON.stringify(error));
    yield* data.data;
    if (page * query.limit >= data.pagination.total) return;
  }
}

/** Sends a message once, though its request may have to be sent several times. */
async function send(body: components["schemas"]["NewMessage"]) {
  const header = { "Idempotency-Key": crypto.randomUUID() };
  for (let attempt = 1; ; attempt++) {
    const answer = await api
      .POST("/api/v1/conversations", { body, params: { header } })
      .catch(() => undefined);
    if (answer?.data) return answer.data;
    const passing = !answer || answer.response.status === 429 || answer.response.status >= 500;
    if (!passing || attempt === 5) throw new Error(JSON.stringify(answer?.error ?? "no answer"));
    await setTimeout(1000 * Number(answer?.response.headers.get("Retry-After") ?? attempt));
  }
}

for await (const { id: leadId, name } of leadsFrom("website")) {
  const { conversationId } = await send({ leadId, channel: "whatsapp", message: `Hello ${name}` });
  console.log(conversationId);
}
