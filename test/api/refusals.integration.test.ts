import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { endApiKey } from "../../lib/ops/keys/api-key-changes.ts";
import { newApiKey } from "../../shared/domain/api-key-format.ts";
import { request, startApi } from "../support/api.ts";
import { fetchChecked } from "../support/checked-fetch.ts";

const account = randomUUID();
const api = await startApi();
const { apiKey, keyId } = await api.issueKey(account);

const leads = () => `${api.url}/api/v1/leads`;
const bearer = (key = apiKey) => ({ authorization: `Bearer ${key}` });
const json = { "content-type": "application/json" };
const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

async function expectGatewayResponse(response: Response, status: number, message: string) {
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ message });
  expect(response.headers.get("apigw-requestid")).toMatch(/./);
}

describe("without a live key", () => {
  test.each([[undefined], [""]])("returns 401 for the header %j", async (authorization) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    await expectGatewayResponse(await fetchChecked(leads(), { headers }), 401, "Unauthorized");
  });

  test("returns 403 for a malformed, unknown, revoked or expired key", async () => {
    const expired = await api.issueKey(account, { validUntil: soon(-1) });
    const revoked = await api.issueKey(account);
    await endApiKey({ account, keyId: revoked.keyId }, { revokedAt: soon(0) });
    const bad = ["nonsense", newApiKey(keyId), `${apiKey}x`, expired.apiKey, revoked.apiKey];
    for (const headers of [
      ...bad.map(bearer),
      { authorization: apiKey },
      { authorization: `Basic ${apiKey}` },
    ]) {
      await expectGatewayResponse(await fetchChecked(leads(), { headers }), 403, "Forbidden");
      const post = { method: "POST", headers: { ...headers, ...json }, body: '{"name":"x"}' };
      await expectGatewayResponse(await fetchChecked(leads(), post), 403, "Forbidden");
    }
  });
});

describe("returns 404 for an unknown route", () => {
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
    await expectGatewayResponse(
      await fetchChecked(api.url + path, { method, headers: bearer() }),
      404,
      "Not Found",
    );
  });
});

describe("a request body", () => {
  const post = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = json) =>
    fetchChecked(leads(), { method: "POST", headers: { ...bearer(), ...headers }, body });
  const padded = (bytes: number) => JSON.stringify({ name: "x".repeat(bytes - '{"name":""}'.length) });

  test("of 11 MB or 7 MB gets 413 from the gateway", async () => {
    for (const size of [11_000_000, 7_000_000]) {
      await expectGatewayResponse(await post(padded(size)), 413, "Request Entity Too Large");
    }
  });

  test("of 5 MB gets 400 from the handler", async () => {
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
  ])("of the type %s gets %i", async (type, status) => {
    const response = await post('{"name":"Zoë"}', { "content-type": type });
    expect(response.status).toBe(status);
    const body = (await response.json()) as { name?: string };
    if (status === 201) expect(body.name).toBe("Zoë");
  });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json; charset=iso-8859-1",
    "application/vnd.acme+json",
  ])("of the type %s that is not UTF-8 gets 400", async (type) => {
    for (const [text, bytes] of [
      ["Zo\u00eb", Buffer.from("Zo\u00eb", "latin1")],
      ["an emoji cut after one byte", Buffer.from("\u{1F600}").subarray(0, 1)],
      ["an emoji cut after two bytes", Buffer.from("\u{1F600}").subarray(0, 2)],
      ["an encoded surrogate", Buffer.from([0xed, 0xa0, 0x80])],
      ["an overlong slash", Buffer.from([0xc0, 0xaf])],
    ] as const) {
      const body = Buffer.concat([Buffer.from('{"name":"Ada '), bytes, Buffer.from('"}')]);
      const response = await post(body, { "content-type": type });
      expect(await response.json(), text).toMatchObject({
        status: 400,
        errors: [{ code: "invalid_encoding" }],
      });
    }
  });

  test.each([
    "application/json",
    "application/vnd.acme+json",
  ])("of the type %s with a U+FFFD that was sent gets 201", async (type) => {
    for (const body of ['{"name":"Zo\ufffd"}', '{"name":"Zo\\ufffd"}']) {
      const response = await post(body, { "content-type": type });
      expect(await response.json()).toMatchObject({ name: "Zo\ufffd" });
    }
  });

  test("that is compressed gets 415, which names what is accepted", async () => {
    const response = await post(Buffer.from(gzipSync('{"name":"Zo\u00eb"}')), {
      ...json,
      "content-encoding": "gzip",
    });
    expect(response.status).toBe(415);
    expect(response.headers.get("accept-encoding")).toBe("identity");
    expect(await response.json()).toMatchObject({ errors: [{ in: "header", field: "content-encoding" }] });
  });

  test("without a content type gets 415", async () => {
    const response = await post(Buffer.from("{}"), {});
    expect(response.status).toBe(415);
  });
});

test("a problem has the request id that the gateway returns", async () => {
  const { status, headers, problem } = await request(api, "list-leads", {
    apiKey,
    query: "page=0&limit=101&x=1",
  });
  expect(status).toBe(400);
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(problem.requestId).toBe(headers.get("apigw-requestid"));
  expect(problem.errors?.map(({ field }) => field).sort()).toEqual(["limit", "page", "x"]);
});

test("reads encoded query parameters as they were sent", async () => {
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
