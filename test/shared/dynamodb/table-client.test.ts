import { expect, test, vi } from "vitest";

test("a function without the name of its table does not start", async () => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "list-leads");
  vi.stubEnv("TABLE_NAME", undefined);
  await expect(import("../../../shared/dynamodb/table-client.ts")).rejects.toThrow("TABLE_NAME is not set.");
});
