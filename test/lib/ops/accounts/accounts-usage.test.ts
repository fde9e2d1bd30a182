import {
  CloudWatchLogsClient,
  GetQueryResultsCommand,
  StartQueryCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { DynamoDBDocumentClient, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { usageCommand } from "../../../../lib/ops/accounts/accounts-usage.ts";
import { mockClient } from "../../../support/mocked-client.ts";

const logs = mockClient(CloudWatchLogsClient);
const tables = mockClient(DynamoDBDocumentClient);

const prefixes = ["listleads", "createlead", "listconversations", "sendmessage"].map(
  (name) => `shop-${name}Logs`,
);

beforeEach(() => {
  logs.reset();
  tables.reset();
  tables.on(QueryCommand).resolves({ Items: [{ pk: "LEAD#acme" }] });
  logs.on(StartQueryCommand).resolves({ queryId: "query-1" });
});

const row = (account: string, requests: string, reads?: string, writes?: string) =>
  Object.entries({ "message.account": account, requests, reads, writes }).map(([field, value]) => ({
    field,
    value,
  }));

/** Runs `accounts usage` on the table `shop`. @returns what it printed, and how long it waited */
async function usage(...args: readonly string[]) {
  const waits: number[] = [];
  const printed = vi.spyOn(console, "log").mockImplementation(() => {});
  const command = usageCommand(async (time) => void waits.push(time));
  try {
    await command.parseAsync(["--table", "shop", "--since", "7d", ...args], { from: "user" });
    return { output: printed.mock.calls.join("\n"), waits };
  } finally {
    printed.mockRestore();
  }
}

test("shows the requests and units of each account, by a search of the logs of all routes", async () => {
  const results = [row("acme", "1200", "3600.5", "12"), row("shop", "3")];
  logs
    .on(GetQueryResultsCommand)
    .resolvesOnce({ status: "Running" })
    .resolves({ status: "Complete", results });
  const { output, waits } = await usage();
  expect(output.split("\n").map((line) => line.split(/\s+/))).toEqual([
    ["account", "requests", "reads", "writes"],
    ["acme", "1200", "3600.5", "12"],
    ["shop", "3", "0", "0"],
  ]);
  expect(waits).toEqual([1000]);
  const [query] = logs.commandCalls(StartQueryCommand).map(({ args }) => args[0].input);
  expect(query?.queryString).toMatch(/^SOURCE [^|]*\| filter message\.event = "request"\s+\| stats count/);
  const names = /namePrefix: \[(.*)\]/.exec(query?.queryString ?? "")?.[1];
  expect(names?.split(", ")).toEqual(prefixes.map((prefix) => `'${prefix}'`));
  expect(Number(query?.endTime) - Number(query?.startTime)).toBe(7 * 24 * 3600);
  expect(Math.abs(Number(query?.endTime) - Date.now() / 1000)).toBeLessThan(60);
});

test("--account shows one account, and --json numbers", async () => {
  logs.on(GetQueryResultsCommand).resolves({ status: "Complete", results: [row("acme", "1", "2", "8")] });
  const { output } = await usage("--account", "acme", "--json");
  expect(JSON.parse(output)).toEqual([{ account: "acme", requests: 1, reads: 2, writes: 8 }]);
  const [query] = logs.commandCalls(StartQueryCommand).map(({ args }) => args[0].input);
  expect(query?.queryString).toContain('and message.account = "acme"');
});

test("says if nothing was logged", async () => {
  logs.on(GetQueryResultsCommand).resolves({ status: "Complete", results: [] });
  expect((await usage()).output).toBe("No request was logged in this time.");
});

test("a search that CloudWatch ends is an error", async () => {
  logs.on(GetQueryResultsCommand).resolves({ status: "Timeout" });
  await expect(usage()).rejects.toThrow("CloudWatch ended the search (Timeout): ask for a shorter time.");
});
