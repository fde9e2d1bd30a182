// A connector that delivers to a channel "telegram" by printing: docs/events.md says how to try it.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { createClient } from "./client.ts";
import { type DeliveryResult, deliverMessage } from "./recipes.ts";

const client = createClient({ url: "http://127.0.0.1:3000", key: process.env.API_KEY ?? "" });
// Keep these in a table: see Delivered in recipes.ts.
const results = new Map<string, DeliveryResult>();
const delivered = {
  claim: async (id: string) => results.get(id) ?? ("claimed" as const),
  add: async (id: string, result: DeliveryResult) => void results.set(id, result),
  release: async () => {},
};
createServer(async (request, response) => {
  const status = await json(request)
    .then((event) =>
      deliverMessage(client, event, "telegram", delivered, async ({ to, message }) => {
        console.log(`${to}: ${message}`);
        return { delivery: "sent" };
      }),
    )
    .then(
      () => 204,
      () => 500,
    );
  response.writeHead(status).end();
}).listen(4000, "127.0.0.1");
