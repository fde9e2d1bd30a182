import { ChangeMessageVisibilityCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSEvent } from "aws-lambda";
import { beforeEach, expect, test, vi } from "vitest";
import * as delivery from "../../../shared/channels/deliver-message.ts";
import { UndeliveredError } from "../../../shared/channels/graph-api.ts";
import * as accounts from "../../../shared/domain/accounts.ts";

vi.stubEnv("MAX_ATTEMPTS", "32");
const { handler } = await import("../../../functions/deliver-message.ts");

let deliver = vi.spyOn(delivery, "deliverMessage");
let send = vi.spyOn(SQSClient.prototype, "send");
let log = vi.spyOn(console, "error");
beforeEach(() => {
  deliver = vi.spyOn(delivery, "deliverMessage");
  send = vi.spyOn(SQSClient.prototype, "send").mockImplementation(async () => {});
  log = vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(accounts, "readFrozenAt").mockResolvedValue(undefined);
});

const message = { account: "acme", channel: "whatsapp", id: "msg_1", message: "Secret text" };
const receive = (attempts: number) =>
  handler({
    Records: [
      {
        ...{ messageId: "1", receiptHandle: "handle", body: JSON.stringify(message) },
        attributes: { ApproximateReceiveCount: `${attempts}` },
      },
    ],
  } as SQSEvent);

test("a message that is delivered leaves the queue", async () => {
  deliver.mockResolvedValue();
  expect(await receive(1)).toEqual({ batchItemFailures: [] });
  expect([deliver.mock.calls, send.mock.calls]).toEqual([[[message, { isLast: false }]], []]);
});

test.each<[number, Error, number]>([
  [1, new UndeliveredError("130429: Why"), 2],
  [5, new UndeliveredError("130429: Why"), 32],
  [1, new UndeliveredError("HTTP 503", { pause: 60 }), 60],
  [1, new TypeError("The state could not be stored."), 60],
  [31, new UndeliveredError("130429: Why"), 900],
  [32, new UndeliveredError("130429: Why"), 0],
])("after attempt %i with %s, the next attempt follows in %i seconds", async (attempts, error, seconds) => {
  deliver.mockRejectedValue(error);
  expect(await receive(attempts)).toEqual({ batchItemFailures: [{ itemIdentifier: "1" }] });
  expect(deliver).toHaveBeenCalledWith(message, { isLast: attempts === 32 });
  const [command] = send.mock.lastCall ?? [];
  expect(command).toBeInstanceOf(ChangeMessageVisibilityCommand);
  expect(command?.input).toMatchObject({ ReceiptHandle: "handle", VisibilityTimeout: seconds });
});

test.each([
  [
    "a refused token",
    new UndeliveredError("190: Why", { isRefusedSender: true }),
    "sender refused",
    { reason: "190: Why" },
  ],
  ["another refusal", new UndeliveredError("1: Why"), "delivery failed", { reason: "1: Why" }],
  ["a fault", new TypeError("Secret text"), "delivery failed", { name: "TypeError" }],
])("%s is logged in one line, without the text of the message", async (_, error, event, why) => {
  deliver.mockRejectedValue(error);
  await receive(1);
  expect(log.mock.calls).toEqual([
    [expect.objectContaining({ event, account: "acme", channel: "whatsapp", id: "msg_1", ...why })],
  ]);
  expect(JSON.stringify(log.mock.calls)).not.toContain("Secret");
});

test.each([
  1, 32,
])("a message of a frozen account waits for 15 minutes, and is not logged as a failure, at attempt %i", async (attempts) => {
  vi.spyOn(accounts, "readFrozenAt").mockResolvedValue("2026-01-01T00:00:00.000Z");
  expect(await receive(attempts)).toEqual({ batchItemFailures: [{ itemIdentifier: "1" }] });
  expect(send.mock.lastCall?.[0].input).toMatchObject({ ReceiptHandle: "handle", VisibilityTimeout: 900 });
  expect([deliver.mock.calls, log.mock.calls]).toEqual([[], []]);
});
