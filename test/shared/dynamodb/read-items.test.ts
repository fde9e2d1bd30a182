import { ProvisionedThroughputExceededException } from "@aws-sdk/client-dynamodb";
import { expect, test, vi } from "vitest";
import { readItems, table } from "../../../shared/dynamodb/table-client.ts";

test("a batch of which the table reads nothing is an error, and not sent again at once", async () => {
  const send = vi.spyOn(table, "send").mockImplementation((async (command: { input: object }) => {
    // Nothing else could end a loop without a wait.
    if (send.mock.calls.length > 2) throw new Error("It was sent again.");
    return { UnprocessedKeys: Reflect.get(command.input, "RequestItems") };
  }) as never);
  const reading = readItems([{ pk: "LEAD#acme", sk: "lead_1" }], true);
  await expect(reading).rejects.toThrow(ProvisionedThroughputExceededException);
  expect(send).toHaveBeenCalledTimes(1);
});
