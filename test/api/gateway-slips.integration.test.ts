import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { fetchChecked } from "../support/checked-fetch.ts";

const api = await startApi();
const { apiKey } = await api.issueKey("acme");

const page = await readFile(join(import.meta.dirname, "../../docs/errors.md"), "utf8");
const [, table = ""] = page.split("### Usual slips\n");

/** The requests of the table and their responses: each request is a request line, or the only header of a list. */
const slips = Array.from(
  table.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \| (\d{3}) `([^`]+)`/gm),
  ([, requests = "", status = "", message = ""]) =>
    Array.from(requests.matchAll(/`([^`]+)`/g), ([, request = ""]) => ({ request, status, message })),
).flat();

test("the table has slips of each kind", () => {
  expect(new Set(slips.map(({ status }) => status))).toEqual(new Set(["401", "403", "404"]));
  expect(slips.length).toBeGreaterThan(15);
});

test.each(slips)("$request gets $status $message", async ({ request, status, message }) => {
  const [, method, path] = /^([A-Z]+) (\/.*)$/.exec(request) ?? [];
  const [, name = "", value = ""] = /^([A-Za-z-]+): ?(.*)$/.exec(request) ?? [];
  const headers = method
    ? { authorization: `Bearer ${apiKey}` }
    : { [name]: value.replace("<API_KEY>", apiKey) };
  const response = await fetchChecked(`${api.url}${path ?? "/api/v1/leads"}`, {
    method: method ?? "GET",
    headers,
  });
  expect(response.status).toBe(Number(status));
  if (method !== "HEAD") expect(await response.json()).toEqual({ message });
});
