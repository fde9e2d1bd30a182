import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createLead, request, startApi } from "../support/api.ts";
import { fetchChecked } from "../support/checked-fetch.ts";
import { listening } from "../support/listening.ts";

const run = promisify(execFile);
const directory = join(import.meta.dirname, "../../docs/client");
const read = (name: string) => readFile(join(directory, name), "utf8");

const api = await startApi({ maxEnvironments: 4 });

/** Starts a proxy that drops the connection after the first POST took effect and returns 429 to the second. */
async function startUnreliableProxy(): Promise<{ url: string; posts: () => number }> {
  let posts = 0;
  const server = createServer(async (incoming, outgoing) => {
    const post = incoming.method === "POST" ? ++posts : 0;
    if (post === 2) return void outgoing.writeHead(429, { "retry-after": "1" }).end("{}");
    const { authorization = "", ...headers } = incoming.headers as Record<string, string>;
    const response = await fetchChecked(`${api.url}${incoming.url}`, {
      method: incoming.method ?? "",
      headers: {
        authorization,
        ...(post > 0 && {
          "content-type": "application/json",
          "idempotency-key": headers["idempotency-key"] ?? "",
        }),
      },
      ...(post > 0 && { body: await buffer(incoming) }),
    });
    if (post === 1) return void incoming.socket.destroy();
    outgoing.writeHead(response.status, { "content-type": "application/json" }).end(await response.text());
  });
  onTestFinished(() => void server.close());
  return { url: await listening(server), posts: () => posts };
}

// More than 300 requests, one after the other.
test("reads all pages and greets each lead once, despite network failures and a second run", {
  timeout: 600_000,
}, async () => {
  const { apiKey } = await api.issueKey(randomUUID());
  const create = (source: string) => createLead(api, apiKey, { name: "Ada", source });
  await Promise.all(Array.from({ length: 101 }, () => create("website")));
  await create("elsewhere");
  const { url, posts } = await startUnreliableProxy();
  const greet = async (url: string) => {
    const env = { PATH: process.env.PATH, API_URL: url, API_KEY: apiKey };
    const { stdout } = await run(process.execPath, ["client.ts"], { cwd: directory, env });
    return stdout.trim().split("\n");
  };
  const printed = await greet(url);
  expect(new Set(printed).size).toBe(101);
  expect(posts()).toBe(103);
  expect(await greet(api.url)).toEqual(printed);
  const pages = await Promise.all(
    [1, 2].map((page) => request(api, "list-conversations", { apiKey, query: `limit=100&page=${page}` })),
  );
  const conversations = pages.flatMap(({ body }) => body.data);
  expect(conversations.map(({ id }) => id).sort()).toEqual(printed.sort());
  expect(new Set(conversations.map(({ messageCount }) => messageCount))).toEqual(new Set([1]));
});

const bin = (name: string) => join(directory, "node_modules", name);

test("has the types of the OpenAPI document and compiles with them", async () => {
  const generate = [bin("openapi-typescript/bin/cli.js"), "../openapi.json"];
  const { stdout } = await run(process.execPath, generate, { cwd: directory, maxBuffer: 10_000_000 });
  expect(stdout).toContain(await read("api.d.ts"));
  await run(process.execPath, [bin("typescript/bin/tsc")], { cwd: directory });
});

test("is shown unchanged on its documentation page", async () => {
  const [, shown] = /```ts\n(.*?)```/s.exec(await read("README.md")) ?? [];
  expect(shown).toBe(await read("client.ts"));
});
