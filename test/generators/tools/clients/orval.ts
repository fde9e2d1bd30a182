import * as schemas from "../.build/orval/client";
import { type Client, conversation, lead, list, message } from "./client";

export function createClient(baseUrl: string, apiKey: string): Client {
  const headers = { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" };
  const get = async (path: string, query: object): Promise<unknown> =>
    (await fetch(`${baseUrl}${path}?${new URLSearchParams({ ...query })}`, { headers })).json();
  const post = async (path: string, body: object): Promise<unknown> =>
    (await fetch(`${baseUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
  return {
    createLead: async (body) =>
      lead({
        value: schemas.CreateLeadResponse.parse(
          await post("/api/v1/leads", schemas.CreateLeadBody.parse(body)),
        ),
      }),
    listLeads: async (query) =>
      list(schemas.ListLeadsResponse.parse(await get("/api/v1/leads", query)), (value) => lead({ value })),
    sendMessage: async (body) =>
      message({
        value: schemas.SendMessageResponse.parse(
          await post("/api/v1/conversations", schemas.SendMessageBody.parse(body)),
        ),
      }),
    listConversations: async (query) =>
      list(schemas.ListConversationsResponse.parse(await get("/api/v1/conversations", query)), (value) =>
        conversation({ value }),
      ),
  };
}
