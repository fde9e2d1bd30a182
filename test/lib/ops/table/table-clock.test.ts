import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { HttpResponse } from "@smithy/core/protocols";
import { beforeEach, expect, test, vi } from "vitest";
import { compareClocks, tableTime } from "../../../../lib/ops/table/table-clock.ts";
import { selectTable, table } from "../../../../shared/dynamodb/table-client.ts";

const noon = Date.UTC(2026, 0, 1, 12);
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: noon }));

/** Makes a call whose response has the table's time, rounded down to a second, `latency` ms after the request. */
async function call(ahead: number | undefined, { latency = 10, status = 200 } = {}) {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const headers: Record<string, string> =
    ahead === undefined ? {} : { date: new Date(Date.now() + ahead).toUTCString() };
  const body = Buffer.from(status === 200 ? "{}" : '{"__type":"ThrottlingException"}');
  const handle = async () => {
    vi.setSystemTime(Date.now() + latency);
    return { response: new HttpResponse({ statusCode: status, headers, body }) };
  };
  selectTable("unit", {
    ...{ region: "local", credentials, maxAttempts: 1 },
    requestHandler: { handle } as never,
  });
  compareClocks(table);
  await table.send(new GetCommand({ TableName: "unit", Key: { pk: "a", sk: "a" } }));
}

test.each([
  ["the same time", 0],
  ["a time within the same second", 900],
  ["no time", undefined],
])("a response with %s leaves the time of this machine", async (_, ahead) => {
  await call(ahead);
  expect(tableTime()).toBe(Date.now());
});

test("a small difference is corrected, as far as the seconds in the header show it", async () => {
  vi.setSystemTime(noon + 500);
  await call(-1300);
  // The header says 11:59:59, so DynamoDB's time was before 12:00:00 when this machine's was 12:00:00.5.
  expect(tableTime()).toBe(Date.now() - 500);
  await call(1200);
  expect(tableTime()).toBeGreaterThan(Date.now());
});

test.each([
  [3_600_000, "The clock of this machine is 3600 s behind DynamoDB's"],
  [-3_600_000, "The clock of this machine is 3599 s ahead of DynamoDB's"],
  [-2100, "The clock of this machine is 2 s ahead of DynamoDB's"],
])("a difference of %i ms is refused", async (ahead, message) => {
  await expect(call(ahead)).rejects.toThrow(`${message}: correct it, and run the command again.`);
  await expect(call(ahead, { status: 400 })).rejects.toThrow(message);
});

test("a slow response is not taken for a difference of the clocks", async () => {
  await call(0, { latency: 9000 });
  expect(tableTime()).toBe(Date.now());
});
