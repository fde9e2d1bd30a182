import { createServer, type RequestListener } from "node:http";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { apiCommand } from "../../../../lib/ops/api/api-command.ts";
import { newApiKey } from "../../../../shared/domain/api-key-format.ts";
import { listening } from "../../../support/listening.ts";

const apiKey = newApiKey("01JZ0000000000000000000000");
beforeEach(() => void vi.stubEnv("API_KEY", apiKey));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Checks an address. @returns the message of the failure, with `HOST` in place of the host */
async function check(url: string): Promise<string> {
  const checking = apiCommand().parseAsync(["check", "--url", url], { from: "user" });
  const failure: unknown = await checking.catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: "UserError" });
  return String((failure as Error).message).replaceAll(new URL(url).host, "HOST");
}

/** Starts a server that sends this response to each request. @returns its address */
async function startServer(status: number, body: string, type = "application/json"): Promise<string> {
  return serve((_, response) =>
    response.writeHead(status, { "content-type": type, location: "/" }).end(body),
  );
}

async function serve(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return listening(server);
}

const problem = (code: string) => JSON.stringify({ type: `urn:problem-type:${code}`, code });
const foreign = (outcome: string) =>
  `The host HOST responded, but not as this API: POST /api/v1/leads returned ${outcome}. Check --url, which is the output ApiUrl.`;
const rejected =
  "The host HOST rejected the API key: it is unknown, expired or revoked, or this is not a host of the key's stage.";

test.each([
  [200, "<html>Welcome</html>", "text/html", foreign("200")],
  [201, "<html>Welcome</html>", "text/html", foreign("201 without data")],
  [201, "{}", undefined, foreign("201 without data")],
  [302, "", undefined, foreign("302")],
  [404, "<html>Not found</html>", "text/html", foreign("404")],
  [404, '{"error":"not found"}', undefined, foreign("404")],
  [404, '{"message":"Not Found"}', undefined, foreign("404")],
  [403, "Access denied", "text/plain", foreign("403")],
  [403, '{"message":"Forbidden"}', undefined, rejected],
  [
    401,
    '{"message":"Unauthorized"}',
    undefined,
    "The host HOST received no API key: POST /api/v1/leads returned 401. A proxy may remove the header Authorization.",
  ],
  [
    403,
    problem("insufficient_access"),
    "application/problem+json",
    "The API key may only read: use one with full access.",
  ],
  [
    503,
    problem("busy"),
    "application/problem+json",
    "The API at http://HOST failed the check: POST /api/v1/leads returned 503.",
  ],
  [
    503,
    '{"message":"Service Unavailable"}',
    undefined,
    "The API at http://HOST failed the check: POST /api/v1/leads returned 503.",
  ],
  [
    201,
    '{"id":"lead_1"}',
    undefined,
    "The API at http://HOST failed the check: The repeated request was not a replay.",
  ],
])("a response %i %s is reported in one sentence", async (status, body, type, sentence) => {
  expect(await check(await startServer(status, body, type))).toBe(sentence);
});

test("an unknown host, and one that refuses the connection, are named", async () => {
  expect(await check("http://nowhere.invalid")).toMatch(
    /^The host HOST was not found \((?:ENOTFOUND|EAI_AGAIN)\): check --url and the network\.$/,
  );
  const closed = createServer();
  const url = await listening(closed);
  await new Promise((resolve) => closed.close(resolve));
  expect(await check(url)).toBe(
    "The host HOST refused the connection: check the host and the port of --url.",
  );
});

test("a host that does not respond in time, or closes the connection, is named", async () => {
  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout.call(AbortSignal, 50));
  expect(await check(await serve(() => {}))).toBe(
    "The host HOST did not respond within 8 seconds: check --url and the network.",
  );
  vi.restoreAllMocks();
  expect(await check(await serve((_, response) => void response.destroy()))).toMatch(
    /^The API at http:\/\/HOST failed the check: POST \/api\/v1\/leads got no response \(\w+\)\.$/,
  );
});

test("a host without TLS is named", async () => {
  const url = await startServer(200, "");
  expect(await check(url.replace("http:", "https:"))).toMatch(
    /^No TLS connection to HOST is possible \(\w+\): check its certificate, and --url\.$/,
  );
});

test.each([
  ["", "API_KEY is not set: set it to an API key with full access."],
  ["wrong", "The checksum of API_KEY is wrong: it has a typo, is cut off, or is not an API key."],
  [`${apiKey}\n`, "The checksum of API_KEY is wrong: it has a typo, is cut off, or is not an API key."],
])("API_KEY %j is reported without being printed", async (key, sentence) => {
  vi.stubEnv("API_KEY", key);
  expect(await check("http://127.0.0.1:9")).toBe(sentence);
});
