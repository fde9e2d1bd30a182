import { expect, test } from "vitest";
import { newApiKey } from "../../../../shared/domain/api-key-format.ts";
import { startApi } from "../../../support/api.ts";
import { program } from "../support/program.ts";

const api = await startApi();
const { apiKey } = await api.issueKey("api-check");
const reader = (await api.issueKey("api-check", { access: "read" })).apiKey;

const check = (API_KEY: string) => program(["api", "check", "--url", api.url], { env: { API_KEY } });

test("api check uses the API, and can be repeated", async () => {
  for (const _ of [1, 2]) {
    let outcome = await check(apiKey);
    // On a busy machine, a function may give up a call.
    for (let tries = 1; /returned 503|did not respond/.test(outcome.stderr) && tries < 5; tries++)
      outcome = await check(apiKey);
    const { code, stdout, stderr } = outcome;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^The API at http:\/\/127\.0\.0\.1:\d+ works: six requests took \d+ ms\.\n$/);
  }
});

test.each([
  ["an unknown key", newApiKey("01JZ0000000000000000000000"), /^The host \S+ rejected the API key: /],
  ["a key that may only read", reader, /^The API key may only read: use one with full access\.\n$/],
])("%s is reported in one sentence, without being printed", async (_, key, sentence) => {
  const outcome = await check(key);
  expect(outcome).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(sentence) });
  expect(outcome.stderr).not.toContain(key);
});
