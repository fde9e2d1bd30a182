import { setTimeout } from "node:timers/promises";
import { DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { Pace } from "../../../../lib/ops/common/pace.ts";
import { forEachAccount } from "../../../../lib/ops/counts/each-account.ts";
import { mockClient } from "../../../support/mocked-client.ts";

test("the largest accounts are worked on one at a time, the others a few at once", async () => {
  const lists = { small: 1, large: 60_000, larger: 110_000, other: 100_000 };
  const partitions = (rows: number, account: string) =>
    ["LEAD", "CONVERSATION"].flatMap((type) =>
      Array.from({ length: rows / 2 }, () => ({ pk: `${type}#${account}` })),
    );
  const nodes = Array.from({ length: 110_000 }, () => ({ pk: "COUNT#other#LEAD" }));
  const Items = [
    ...[...partitions(2, "small"), ...partitions(2 * lists.large, "large")],
    ...[...partitions(lists.larger, "larger"), ...partitions(lists.other, "other"), ...nodes],
  ];
  mockClient(DynamoDBDocumentClient)
    .on(ScanCommand)
    .callsFake(({ Segment }: { Segment: number }) => ({ Items: Segment === 0 ? Items : [] }));
  vi.spyOn(console, "error").mockImplementation(() => {});
  const running = new Set<string>();
  const besides = new Map<string, string[]>();
  const outcomes = await forEachAccount(
    new Pace(),
    async (account) => {
      running.add(account);
      await setTimeout(20);
      besides.set(account, [...running]);
      running.delete(account);
    },
    () => "",
  );
  expect(outcomes.map(({ account }) => account)).toEqual(["large", "larger", "other", "small"]);
  expect(besides.get("large")).toEqual(["large"]);
  expect(besides.get("larger")).toEqual(["larger"]);
  expect(besides.get("other")?.sort()).toEqual(["other", "small"]);
});
