import { ConditionalCheckFailedException, TransactionConflictException } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { conversationsCommand } from "../../../../lib/ops/conversations/conversations-command.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { mockClient } from "../../../support/mocked-client.ts";
import { storedConversation, storedLead } from "../../../support/stored.ts";

const table = mockClient(DynamoDBDocumentClient);
beforeEach(() => {
  table.reset();
  vi.spyOn(console, "log").mockImplementation(() => {});
});

const options = ["--account", "acme", "--table", "unit"];
const lead = ["--lead", "lead_1", ...options];
const conversation = ["--conversation", "conv_1", ...options];
const commands = {
  "leads set-status": [leadsCommand, ["set-status", "--status", "booked", ...lead], storedLead("lead_1")],
  "leads set-score": [leadsCommand, ["set-score", "--score", "7", ...lead], storedLead("lead_1")],
  "conversations set-status": [
    conversationsCommand,
    ["set-status", "--status", "closed", ...conversation],
    storedConversation("conv_1"),
  ],
} as const;

const conflicts = [
  new TransactionConflictException({ message: "busy", $metadata: {} }),
  new ConditionalCheckFailedException({ message: "changed", $metadata: {} }),
];

describe.each(Object.entries(commands))("%s", (_, [command, args, Item]) => {
  const run = () => command().parseAsync(args, { from: "user" });

  test("is retried while others change the item", async () => {
    table.on(GetCommand).resolves({ Item });
    table
      .on(UpdateCommand)
      .rejectsOnce(conflicts[0])
      .rejectsOnce(conflicts[1])
      .resolves({ Attributes: Item });
    await run();
    expect(table.commandCalls(UpdateCommand)).toHaveLength(3);
    // Each attempt begins with what is stored.
    expect(table.commandCalls(GetCommand).length).toBeGreaterThanOrEqual(3);
  });

  test.each(conflicts)("gives up after ten seconds of $name", async (conflict) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    table.on(GetCommand).resolves({ Item });
    table.on(UpdateCommand).callsFake(() => {
      vi.setSystemTime(Date.now() + 2400);
      throw conflict;
    });
    await expect(run()).rejects.toThrow();
    // The fifth attempt ends after twelve seconds.
    expect(table.commandCalls(UpdateCommand)).toHaveLength(5);
  });
});
