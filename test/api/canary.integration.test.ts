import { randomUUID } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import { canaryClient } from "../../shared/canary/canary-client.ts";
import { runCanary } from "../../shared/canary/canary-run.ts";
import { deleteEarlierRows } from "../../shared/canary/earlier-rows.ts";
import { request, startApi } from "../support/api.ts";

const api = await startApi({ streams: true });
const account = randomUUID();
const { apiKey } = await api.issueKey(account);
const client = canaryClient(api.url, apiKey);

const total = async (name: "list-leads" | "list-conversations") =>
  (await request(api, name, { apiKey })).body.pagination.total;

/** Counting can take a while on a busy machine. */
const untilTotals = (leads: number, conversations: number) =>
  expect
    .poll(async () => [await total("list-leads"), await total("list-conversations")])
    .toEqual([leads, conversations]);

afterEach(() => void vi.useRealTimers());

test("runs pass behind the gateway, and what they wrote is deleted and no longer counted", async () => {
  await runCanary(client, account);
  await runCanary(client, account);
  await untilTotals(4, 2);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 8 * 60_000 });
  expect(await deleteEarlierRows("conversation", account)).toBe(2);
  expect(await deleteEarlierRows("lead", account)).toBe(4);
  vi.useRealTimers();
  await untilTotals(0, 0);
  await runCanary(client, account);
  await untilTotals(2, 1);
});
