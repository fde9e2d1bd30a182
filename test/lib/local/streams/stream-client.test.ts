import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { createStreamClient, StreamError } from "../../../../lib/local/streams/stream-client.ts";
import { listening } from "../../../support/listening.ts";

async function clientOf(status: number, answer: string) {
  const server = createServer((_, response) => void response.writeHead(status).end(answer));
  onTestFinished(() => void server.close());
  const endpoint = await listening(server);
  return createStreamClient(endpoint, async (headers) => headers);
}

test.each([
  200, 400,
])("an answer of %i that is no JSON is an error that quotes none of it", async (status) => {
  const client = await clientOf(status, '{"Records":[secret');
  const failure = await client.records("iterator").catch((error: unknown) => error);
  // The reader takes a StreamError for the engine's own word, and begins anew.
  expect(failure).not.toBeInstanceOf(StreamError);
  expect(String(failure)).toBe("Error: the engine's answer is no whole JSON");
});
