import type { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { table } from "../../../../shared/dynamodb/table-client.ts";
import { forgetTails, readTail } from "../../../../shared/pages/read/tail.ts";

/** The sort keys of all tails in this test, newest first. */
let keys: readonly string[];

beforeEach(() => {
  forgetTails();
  vi.spyOn(table, "send").mockImplementation((async ({ input }: QueryCommand) => {
    const start = Number(input.ExclusiveStartKey?.start ?? 0);
    const end = start + 10_000;
    const LastEvaluatedKey = end < keys.length ? { start: end } : undefined;
    return { Items: keys.slice(start, end).map((sk) => ({ sk })), LastEvaluatedKey };
  }) as never);
});
afterEach(() => {
  forgetTails();
  vi.restoreAllMocks();
});

/** Reads a tail. @returns whether its rows were read, and not remembered */
async function isRead(partition: string): Promise<boolean> {
  let calls = 0;
  const newest = { items: [{ sk: "y" }], done: false };
  const found = await readTail({ partition }, { watermark: "a", settledBefore: "y", newest }, (send) => {
    calls++;
    return send({ abortSignal: new AbortController().signal });
  });
  expect(found).toHaveLength(1 + keys.length);
  return calls > 0;
}

test("an environment remembers the tails of 1,000 ranges, and forgets the one that was read least recently", async () => {
  keys = ["m"];
  for (let n = 0; n < 1000; n++) expect(await isRead(`${n}`)).toBe(true);
  expect(await isRead("0")).toBe(false);
  expect(await isRead("another")).toBe(true);
  expect(await isRead("0")).toBe(false);
  expect(await isRead("2")).toBe(false);
  expect(await isRead("1")).toBe(true);
});

test("an environment remembers a million sort keys, and forgets the longest tail", async () => {
  keys = ["m"];
  expect(await isRead("short")).toBe(true);
  keys = Array.from({ length: 600_000 }, () => "m");
  expect(await isRead("longest")).toBe(true);
  expect(await isRead("longest")).toBe(false);
  keys = keys.slice(0, 500_000);
  expect(await isRead("long")).toBe(true);
  expect(await isRead("long")).toBe(false);
  keys = ["m"];
  expect(await isRead("short")).toBe(false);
  keys = Array.from({ length: 600_000 }, () => "m");
  expect(await isRead("longest")).toBe(true);
});
