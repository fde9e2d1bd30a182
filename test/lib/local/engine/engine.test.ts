import { expect, onTestFinished, test, vi } from "vitest";
import { engineClient, engineStreamsClient } from "../../../../lib/local/engine/dynamodb-client.ts";
import { engineBinary, enginePorts } from "../../../../lib/local/engine/engine.ts";
import { UserError } from "../../../../lib/user-error.ts";

test("without an engine for this platform, the error says how to start DynamoDB Local", () => {
  const sentence =
    "The embedded DynamoDB (@dynoxide/linux-riscv64) is not installed: run `npm ci`. If it is not available for this platform, start DynamoDB Local with `java -jar DynamoDBLocal.jar`, then run `DYNAMODB_ENDPOINT=http://127.0.0.1:8000 npm start`.";
  expect(() => engineBinary("linux", "riscv64")).toThrow(new UserError(sentence));
});

test.each(enginePorts)("no web page can send a request to the port %i", async (port) => {
  // Like browsers, the fetch of Node.js blocks the ports that the Fetch Standard lists.
  const refused = fetch(`http://127.0.0.1:${port}`);
  await expect(refused).rejects.toMatchObject({ cause: { message: "bad port" } });
});

test.each([
  ["tables", engineClient],
  ["streams", engineStreamsClient],
])("the client of the engine's %s uses none of the developer's settings", async (_, createClient) => {
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ["PROFILE", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "REGION", "ENDPOINT_URL_DYNAMODB"])
    vi.stubEnv(`AWS_${name}`, "developer");
  const { config } = createClient("http://127.0.0.1:8000");
  expect(await config.credentials()).toMatchObject({ accessKeyId: "local" });
  expect(await config.region()).toBe("local");
  expect(await config.endpoint?.()).toMatchObject({ hostname: "127.0.0.1", port: 8000 });
});
