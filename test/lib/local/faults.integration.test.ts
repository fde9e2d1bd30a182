import { expect, test, vi } from "vitest";
import { request, startApi } from "../../support/api.ts";

test("the log line of a request has the faults of its calls", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const api = await startApi({ faults: ["late"] });
  const { apiKey } = await api.issueKey("acme");
  const { status } = await request(api, "create-lead", { apiKey, body: { name: "Ada" } });
  expect(status).toBe(201);
  await expect.poll(() => api.log.at(-1)).toMatch(/^POST \S+ 201 .* \[late GetItem\].* \[late PutItem\]$/);
});
