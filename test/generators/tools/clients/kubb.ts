import * as api from "../.build/kubb";
import { type Client, conversation, lead, list, message } from "./client";

export function createClient(baseURL: string, apiKey: string): Client {
  const config = {
    baseURL,
    headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
  };
  return {
    createLead: async (body) => lead({ value: await api.createLead(body, undefined, config) }),
    listLeads: async (query) => list(await api.listLeads(query, config), (value) => lead({ value })),
    sendMessage: async (body) => message({ value: await api.sendMessage(body, undefined, config) }),
    listConversations: async (query) =>
      list(await api.listConversations(query, config), (value) => conversation({ value })),
  };
}
