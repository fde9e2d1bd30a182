import { expect, test } from "vitest";
import { newApiKey } from "../../../../shared/domain/api-key-format.ts";
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

test.each([
  [
    "an unknown key",
    async () => newApiKey("01JZ0000000000000000000000"),
    /^The host \S+ rejected the API key: /,
  ],
  [
    "a key that may only read",
    async () => (await api.issueKey("api-check", { access: "read" })).apiKey,
    /^The API key may only read: use one with full access\.\n$/,
  ],
])("%s is reported in one sentence", async (_, prepare, sentence) => {
  const key = await prepare();
  const outcome = await check(api.url, key);
  expect(outcome).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(sentence) });
  expect(outcome.stderr).not.toContain(key);
});

test("an address without a server is not taken for a busy table", async () => {
  const { code, stderr } = await check("http://127.0.0.1:2", apiKey);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "The host 127.0.0.1:2 refused the connection: check the host and the port of --url.\n",
  });
});
