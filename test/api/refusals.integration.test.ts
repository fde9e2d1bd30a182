import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { newApiKey } from "../../shared/domain/api-key-format.ts";
import { request, startApi } from "../support/api.ts";

const account = randomUUID();
const api = await startApi();
const { apiKey, keyId } = await api.issueKey(account);

const leads = () => `${api.url}/api/v1/leads`;
const bearer = (key = apiKey) => ({ authorization: `Bearer ${key}` });
const json = { "content-type": "application/json" };
const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

async function gatewayResponse(response: Response, status: number, message: string) {
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ message });
  expect(response.headers.get("apigw-requestid")).toMatch(/./);
}

describe("without a live key", () => {
  test.each([[undefined], [""]])("the header %j is answered with 401", async (authorization) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    await gatewayResponse(await fetch(leads(), { headers }), 401, "Unauthorized");
  });

  test("a malformed, unknown, revoked or expired key is answered with 403", async () => {
    const expired = await api.issueKey(account, { validUntil: soon(-1) });
    const revoked = await api.issueKey(account);
    await (await api.keys()).endApiKey(account, revoked.keyId, { revokedAt: soon(0) });
    const bad = ["nonsense", newApiKey(keyId), `${apiKey}x`, expired.apiKey, revoked.apiKey];
    for (const headers of [
      ...bad.map(bearer),
      { authorization: apiKey },
      { authorization: `Basic ${apiKey}` },
    ]) {
      await gatewayResponse(await fetch(leads(), { headers }), 403, "Forbidden");
      const post = { method: "POST", headers: { ...headers, ...json }, body: '{"name":"x"}' };
      await gatewayResponse(await fetch(leads(), post), 403, "Forbidden");
    }
  });
});

describe("what is no route is answered with 404", () => {
  test.each([
    ["GET", "/"],
    ["GET", "/api/v1/leads/"],
    ["GET", "/api/v1/leads/lead_1"],
    ["GET", "/api/v2/leads"],
    ["GET", "/API/v1/leads"],
    ["PUT", "/api/v1/leads"],
    ["DELETE", "/api/v1/conversations"],
    ["OPTIONS", "/api/v1/leads"],
    ["GET", "//api/v1/leads"],
  ])("%s %s", async (method, path) => {
    await gatewayResponse(await fetch(api.url + path, { method, headers: bearer() }), 404, "Not Found");
  });
});

describe("a body", () => {
  const post = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = json) =>
    fetch(leads(), { method: "POST", headers: { ...bearer(), ...headers }, body });
  const padded = (bytes: number) => JSON.stringify({ name: "x".repeat(bytes - '{"name":""}'.length) });

  test("of 11 MB, and of 7 MB, is answered by the gateway with 413", async () => {
    for (const size of [11_000_000, 7_000_000]) {
      await gatewayResponse(await post(padded(size)), 413, "Request Entity Too Large");
    }
  });

  test("of 5 MB is answered with 400", async () => {
    const response = await post(padded(5_000_000));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ in: "body", field: "", code: "too_large" }] });
  });

  test.each([
    ["application/vnd.acme+json", 201],
    ["application/json; charset=utf-8", 201],
    ["text/plain", 415],
    ["text/json", 415],
    ["multipart/form-data; boundary=x", 415],
  ])("of the type %s is answered with %i", async (type, status) => {
    const response = await post('{"name":"Zoë"}', { "content-type": type });
    expect(response.status).toBe(status);
    const body = (await response.json()) as { name?: string };
    if (status === 201) expect(body.name).toBe("Zoë");
  });

  test("that is no UTF-8 is answered with 400 where the gateway passes it on as it came", async () => {
    const latin1 = Buffer.from('{"name":"Zo\u00eb"}', "latin1");
    const response = await post(Buffer.from(latin1), { "content-type": "application/vnd.acme+json" });
    expect(await response.json()).toMatchObject({ status: 400, errors: [{ code: "invalid_encoding" }] });
  });

  test("and its content type may be missing, which is answered with 415", async () => {
    const response = await post(Buffer.from("{}"), {});
    expect(response.status).toBe(415);
  });
});

test("a problem names its request as the gateway does", async () => {
  const { status, headers, problem } = await request(api, "list-leads", {
    apiKey,
    query: "page=0&limit=101&x=1",
  });
  expect(status).toBe(400);
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(problem.requestId).toBe(headers.get("apigw-requestid"));
  expect(problem.errors?.map(({ field }) => field).sort()).toEqual(["limit", "page", "x"]);
});

test("parameters are read as they were sent", async () => {
  const body = { name: "Comma", source: "a,y & b=c+d" };
  await request(api, "create-lead", { apiKey, body });
  for (const query of [
    "source=a%2Cy+%26+b%3Dc%2Bd",
    "source=a,y%20%26%20b=c%2Bd&page=1",
    "&source=a,y+%26+b=c%2Bd&&",
  ]) {
    const response = await request(api, "list-leads", { apiKey, query });
    expect(response.body.data, query).toMatchObject([body]);
  }
});
