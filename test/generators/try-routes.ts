import assert from "node:assert/strict";

/** The API, and a key of an account without data. */
export interface Access {
  readonly url: string;
  readonly apiKey: string;
}

type Call = (input: object) => Promise<unknown>;

/** A client as `tools/clients/client.ts` describes it. */
type Client = Readonly<Record<"createLead" | "listLeads" | "sendMessage" | "listConversations", Call>>;

/** A module of `tools/` that calls a generated client. */
export interface ClientModule {
  createClient(url: string, apiKey: string): Client;
}

const newLead = {
  name: "Zoë 字 \u{1F600}",
  email: "o.hara+x@example.com",
  source: "instagram",
  tags: ["vip", "a b"],
};
const text = "Hello\n\tZoë \u{1F600}";

/**
 * Sends a request to each route and checks what the client made of the responses.
 *
 * @returns how many responses it could read, and why it could not read the others
 */
export async function tryRoutes(
  module: Promise<ClientModule>,
  { url, apiKey }: Access,
): Promise<{ read: number; failures: string[] }> {
  let leadId: string;
  const pagination = { page: 1, limit: 5, total: 1 };
  const steps: Readonly<Record<keyof Client, (client: Client) => Promise<void>>> = {
    createLead: async (client) => {
      const created = await client.createLead(newLead);
      assert.partialDeepStrictEqual(created, { ...newLead, score: 0, status: "new" });
      leadId = (created as { id: string }).id;
    },
    listLeads: async (client) =>
      assert.partialDeepStrictEqual(await client.listLeads({ status: "new", limit: 5 }), {
        data: [newLead],
        pagination,
      }),
    sendMessage: async (client) =>
      assert.partialDeepStrictEqual(
        await client.sendMessage({ leadId, channel: "whatsapp", message: text }),
        { leadId, channel: "whatsapp", message: text },
      ),
    listConversations: async (client) =>
      assert.partialDeepStrictEqual(await client.listConversations({ leadId, limit: 5 }), {
        data: [{ leadId, channel: "whatsapp", status: "active", messageCount: 1 }],
        pagination,
      }),
  };
  const failures: string[] = [];
  const names = Object.keys(steps) as (keyof Client)[];
  for (const name of names) {
    try {
      await steps[name]((await module).createClient(url, apiKey));
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message}`);
    }
  }
  return { read: names.length - failures.length, failures };
}
