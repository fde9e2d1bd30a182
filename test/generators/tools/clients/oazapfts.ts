import { ok } from "@oazapfts/runtime";
import * as api from "../.build/oazapfts/client";
import { type Client, conversation, lead, list, message } from "./client";

export function createClient(baseUrl: string, apiKey: string): Client {
  Object.assign(api.defaults, { baseUrl, headers: { Authorization: `Bearer ${apiKey}` } });
  return {
    createLead: async (body) => lead({ value: await ok(api.createLead(body, {})) }),
    listLeads: async (query) => list(await ok(api.listLeads(query)), (value) => lead({ value })),
    sendMessage: async (body) => message({ value: await ok(api.sendMessage(body, {})) }),
    listConversations: async (query) =>
      list(await ok(api.listConversations(query)), (value) => conversation({ value })),
  };
}
