import { expect, test, vi } from "vitest";
import { request, startApi } from "../../support/requests/api.ts";

test("the log line of a request has the faults of its calls", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const api = await startApi({ faults: ["late"] });
  const { apiKey } = await api.issueKey("acme");
  const create = () => request(api, "create-lead", { apiKey, body: { name: "Ada" } });
  // On a busy machine, the first requests may fail.
  await expect.poll(async () => (await create()).status).toBe(201);
  const line = expect.stringMatching(/^POST \S+ 201 .* \[late GetItem\].* \[late PutItem\]$/);
  await expect.poll(() => api.log).toContainEqual(line);
  expect(api.log.join("\n")).not.toContain("[create-lead] fault:");
});
