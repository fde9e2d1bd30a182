import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { handler as canary } from "../../functions/canary.ts";
import { request, startApi, type TestApi } from "../support/api.ts";
import { mockClient } from "../support/mocked-client.ts";

const parameters = mockClient(SSMClient);

let api: TestApi;
let apiKey: string;
let run: typeof canary;

beforeAll(async () => {
  api = await startApi();
  ({ apiKey } = await api.issueKey("canary"));
  vi.stubEnv("API_URL", `${api.url}/`);
  vi.stubEnv("KEY_PARAMETER", "/stage/canary-key");
  ({ handler: run } = await import("../../functions/canary.ts"));
});

beforeEach(() => {
  parameters.reset();
  storeKey(apiKey);
});

function storeKey(value: string | undefined) {
  parameters
    .on(GetParameterCommand, { Name: "/stage/canary-key", WithDecryption: true })
    .resolves({ Parameter: { ...(value !== undefined && { Value: value }) } });
}

/** The code of the error that a run logs. */
async function failure(): Promise<string> {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  await expect(run()).rejects.toThrow("The function failed.");
  const [{ event, cause }] = error.mock.lastCall ?? [];
  error.mockRestore();
  expect(event).toBe("function failed");
  return cause.code;
}

test("all runs of a day add one lead with one message", async () => {
  await run();
  await run();
  await run();
  const leads = await request(api, "list-leads", { apiKey });
  expect(leads.body.data).toMatchObject([{ name: "Canary", source: "canary" }]);
  const conversations = await request(api, "list-conversations", { apiKey });
  expect(conversations.body.data).toMatchObject([{ channel: "canary", messageCount: 1 }]);
});

test("a key that does not work fails the run, and the log says which request", async () => {
  storeKey("lck_unknown");
  expect(await failure()).toBe("POST /api/v1/leads returned 403");
});

test("a key that may only read fails the run", async () => {
  const reader = await api.issueKey("canary-reader", { access: "read" });
  storeKey(reader.apiKey);
  expect(await failure()).toBe("POST /api/v1/leads returned 403");
});

test("a key that is not stored fails the run", async () => {
  storeKey(undefined);
  expect(await failure()).toBe("The parameter of the key is empty");
  parameters
    .on(GetParameterCommand)
    .rejects(Object.assign(new Error("secret"), { name: "ParameterNotFound", code: undefined }));
  expect(await failure()).toBeUndefined();
});
