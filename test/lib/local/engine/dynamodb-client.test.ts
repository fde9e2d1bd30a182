import { expect, test, vi } from "vitest";
import { awsRegion, engineClient, signAs } from "../../../../lib/local/engine/dynamodb-client.ts";

test.each([
  ["https://dynamodb.eu-west-1.amazonaws.com", "eu-west-1"],
  ["https://dynamodb.cn-north-1.amazonaws.com.cn", "cn-north-1"],
  ["http://127.0.0.1:8000", undefined],
  ["http://localhost:8000", undefined],
])("the region of %s is %s", (endpoint, region) => {
  expect(awsRegion(endpoint)).toBe(region);
});

test.each([
  ["AWS", "https://dynamodb.eu-west-1.amazonaws.com", "Credential=DEVELOPER/", "/eu-west-1/dynamodb/"],
  ["another engine", "http://127.0.0.1:8000", "Credential=local/", "/local/dynamodb/"],
])("requests to %s are signed with its credentials", async (_, endpoint, credential, scope) => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "DEVELOPER");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  const headers = await signAs(engineClient(endpoint), endpoint)({ "x-amz-target": "x" }, Buffer.from("{}"));
  vi.unstubAllEnvs();
  expect(headers.authorization).toContain(credential);
  expect(headers.authorization).toContain(scope);
  expect(headers["x-amz-target"]).toBe("x");
});
