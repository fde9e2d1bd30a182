import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { engineClient, engineStreamsClient } from "../../../../lib/local/engine/dynamodb-client.ts";

const endpoint = "http://127.0.0.1:8000";

beforeEach(() => {
  for (const name of ["AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"])
    vi.stubEnv(name, "developer");
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", "developer");
});
afterEach(() => vi.unstubAllEnvs());

test.each([
  ["tables", engineClient],
  ["streams", engineStreamsClient],
])("the client of the engine's %s uses none of the developer's settings", async (_, createClient) => {
  const { config } = createClient(endpoint);
  expect(await config.credentials()).toMatchObject({ accessKeyId: "local" });
  expect(await config.region()).toBe("local");
  expect(await config.endpoint?.()).toMatchObject({ hostname: "127.0.0.1", port: 8000 });
});
