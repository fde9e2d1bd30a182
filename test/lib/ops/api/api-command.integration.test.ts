import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startApi } from "../../../support/api.ts";
import { createDataDirectory, ops } from "../../../support/ops.ts";

const dataDirectory = await createDataDirectory();
const api = await startApi();
const { apiKey } = await api.issueKey("api-check");

const check = (url: string, API_KEY: string) =>
  ops(["api", "check", "--url", url], { dataDirectory, env: { API_KEY } });

test("api check uses the API, and can be repeated", async () => {
  for (const _ of [1, 2]) {
    let outcome = await check(api.url, apiKey);
    // On a busy machine, a function may give up a call.
    for (let tries = 1; outcome.stderr.includes("returned 503") && tries < 5; tries++)
      outcome = await check(api.url, apiKey);
    const { code, stdout, stderr } = outcome;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^The API at http:\/\/127\.0\.0\.1:\d+ works: six requests took \d+ ms\.\n$/);
  }
});

/** A server that responds to every request with an empty object. */
async function startWrongApi(): Promise<string> {
  const server = createServer((_, response) => response.writeHead(201).end("{}"));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  [
    "a wrong key",
    async () => [api.url, "wrong"],
    /failed the check: POST \/api\/v1\/leads returned 403\.\n$/,
  ],
  [
    "a key that may only read",
    async () => [api.url, (await api.issueKey("api-check", { access: "read" })).apiKey],
    /failed the check: POST \/api\/v1\/leads returned 403\.\n$/,
  ],
  [
    "an address without a server",
    async () => ["http://127.0.0.1:9", apiKey],
    /^The API at http:\/\/127\.0\.0\.1:9 failed the check: .+\.\n$/,
  ],
  [
    "another server",
    async () => [await startWrongApi(), apiKey],
    /failed the check: The repeated request was not a replay\.\n$/,
  ],
  ["no key", async () => [api.url, ""], /^API_KEY is not set: set it to an API key with full access\.\n$/],
  [
    "no address",
    async () => ["api.example.com", apiKey],
    /An address is a URL such as https:\/\/api\.example\.com\.\n$/,
  ],
])("%s is reported in one sentence", async (_, prepare, sentence) => {
  const [url = "", key = ""] = await prepare();
  const { code, stdout, stderr } = await check(url, key);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(sentence);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  if (key) expect(stderr).not.toContain(apiKey);
});
