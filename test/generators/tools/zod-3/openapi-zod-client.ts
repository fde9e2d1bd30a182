import { type Client, conversation, lead, list, message } from "../clients/client";
import { createApiClient } from "./.build/openapi-zod-client/client";

export function createClient(baseUrl: string, apiKey: string): Client {
  const api = createApiClient(baseUrl, {
    axiosConfig: { headers: { Authorization: `Bearer ${apiKey}` } },
  });
  return {
    createLead: async (body) => lead({ value: await api.createLead(body) }),
    listLeads: async (queries) => list(await api.listLeads({ queries }), (value) => lead({ value })),
    sendMessage: async (body) => message({ value: await api.sendMessage(body) }),
    listConversations: async (queries) =>
      list(await api.listConversations({ queries }), (value) => conversation({ value })),
  };
}
