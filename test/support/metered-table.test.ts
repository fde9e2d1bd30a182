import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { table, tableName } from "../../shared/dynamodb/table-client.ts";
import { metered, useMeteredTable } from "./metered-table.ts";

useMeteredTable();

const read = (sk: string) =>
  table.send(new GetCommand({ TableName: tableName, Key: { pk: "a", sk }, ConsistentRead: true }));

/** Calls one after the other. */
const readInTurn = async (...sks: readonly string[]) => {
  for (const sk of sks) await read(sk);
};

test("calls that wait for no other one are a round trip", async () => {
  const { cost } = await metered(() =>
    Promise.all([readInTurn("1", "2", "3"), readInTurn("4"), readInTurn("5", "6")]),
  );
  expect(cost).toEqual({ read: 6, write: 0, calls: 6, trips: 3 });
});

test("the cost of what is metered within is left out", async () => {
  const write = () => table.send(new PutCommand({ TableName: tableName, Item: { pk: "a", sk: "1" } }));
  const { result, cost } = await metered(async () => {
    await read("1");
    const inner = await metered(write);
    await readInTurn("1", "2");
    return inner.cost;
  });
  expect(result).toEqual({ read: 0, write: 1, calls: 1, trips: 1 });
  expect(cost).toEqual({ read: 3, write: 0, calls: 3, trips: 3 });
});
