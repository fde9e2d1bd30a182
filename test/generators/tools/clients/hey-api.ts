import { client } from "../.build/hey-api/client.gen";
import * as api from "../.build/hey-api/sdk.gen";
import { type Client, conversation, lead, list, message } from "./client";

export function createClient(baseUrl: string, apiKey: string): Client {
  client.setConfig({ baseUrl, auth: apiKey });
  const throwOnError = true;
  return {
    createLead: async (body) => lead({ value: (await api.createLead({ body, throwOnError })).data }),
    listLeads: async (query) =>
      list((await api.listLeads({ query, throwOnError })).data, (value) => lead({ value })),
    sendMessage: async (body) => message({ value: (await api.sendMessage({ body, throwOnError })).data }),
    listConversations: async (query) =>
      list((await api.listConversations({ query, throwOnError })).data, (value) => conversation({ value })),
  };
}
