import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage, request as sendHttp } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { request, startApi } from "../support/api.ts";
import { realisticLeads } from "../support/realistic-leads.ts";

const api = await startApi({ maxEnvironments: 1 });

let apiKey: string;
beforeAll(async () => {
  apiKey = (await api.issueKey(randomUUID())).apiKey;
  for (const { name, email, source, tags } of realisticLeads(5)) {
    const { status } = await request(api, "create-lead", { apiKey, body: { name, email, source, tags } });
    expect(status).toBe(201);
  }
});

const leads = () => `${api.url}/api/v1/leads`;
const authorization = () => `Bearer ${apiKey}`;

/** Gets the bytes of a response as they are sent. */
async function getBytes(url: string, headers: Record<string, string | string[]>) {
  const [response] = (await once(get(url, { headers }), "response")) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
}

test.each([
  "gzip",
  "br, GZIP;q=0.5",
  ["br", "gzip"],
])("a page is sent as gzip to a caller that accepts %j", async (encoding) => {
  const plain = await getBytes(leads(), { authorization: authorization() });
  expect(plain.headers).toMatchObject({
    vary: "Accept-Encoding",
    "content-length": String(plain.bytes.length),
  });
  expect(plain.headers).not.toHaveProperty("content-encoding");
  expect(JSON.parse(plain.bytes.toString()).data).toHaveLength(5);

  const compressed = await getBytes(leads(), { authorization: authorization(), "accept-encoding": encoding });
  expect(compressed.status).toBe(200);
  expect(compressed.headers).toMatchObject({
    "content-type": "application/json",
    "content-encoding": "gzip",
    "content-length": String(compressed.bytes.length),
    vary: "Accept-Encoding",
    link: plain.headers.link,
  });
  expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 2);
  expect(gunzipSync(compressed.bytes)).toEqual(plain.bytes);
});

test("fetch reads a compressed page and a compressed problem like plain ones", async () => {
  const page = await request(api, "list-leads", { apiKey });
  expect(page.headers.get("content-encoding")).toBe("gzip");
  expect(page.body.data).toHaveLength(5);
  const body = { name: "Ada", tags: Array(100).fill("") };
  const { status, headers, problem } = await request(api, "create-lead", { apiKey, body });
  expect([status, headers.get("content-encoding")]).toEqual([400, "gzip"]);
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(problem.errors).toHaveLength(100);
});

test.each([
  ["without a key", "GET", "/api/v1/leads", {}, 401],
  ["with an unknown key", "GET", "/api/v1/leads", { authorization: "Bearer x" }, 403],
  ["of an unknown route", "GET", "/api/v1/nothing", {}, 404],
  ["of HEAD, which no route has", "HEAD", "/api/v1/leads", {}, 404],
])("the gateway's own response to a request %s is plain", async (_, method, path, headers, status) => {
  const sent = sendHttp(`${api.url}${path}`, { method, headers: { ...headers, "accept-encoding": "gzip" } });
  const [response] = (await once(sent.end(), "response")) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(status);
  expect(response.headers).not.toHaveProperty("content-encoding");
  expect(response.headers).not.toHaveProperty("vary");
});
