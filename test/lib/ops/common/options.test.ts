import { createServer } from "node:http";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { CommanderError } from "commander";
import { expect, onTestFinished, test } from "vitest";
import { UserError } from "../../../../lib/errors.ts";
import {
  accountCommand,
  accountOrAllCommand,
  allAccountsCommand,
  itemCommand,
  localConfig,
  selectTableByOptions,
} from "../../../../lib/ops/common/options.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { listening } from "../../../support/listening.ts";

/** Parses arguments. @returns the options, or the message of the error */
function parse(create: typeof accountCommand, ...args: readonly string[]): object | string {
  const command = create("probe", "")
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  try {
    return command.parse(args, { from: "user" }).opts();
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
}

const tables = [["--local"], ["--stage", "dev"], ["--table", "t"]];
const pairs = tables.flatMap((one) =>
  tables.filter((other) => other !== one).map((other) => [...one, ...other]),
);

test.each(pairs.map((args) => [args]))("%j names two tables, which no command accepts", (args) => {
  for (const create of [accountCommand, accountOrAllCommand, allAccountsCommand, itemCommand])
    expect(parse(create, "--account", "a", ...args)).toMatch(/unknown option|cannot be used with option/);
  expect(parse(accountCommand, "--account", "a", ...args)).toMatch(/cannot be used with option/);
});

test.each(["a", "A.b-c_9", "a".repeat(64)])("%s is the name of an account", (account) => {
  expect(parse(accountCommand, "--account", account)).toEqual({ account });
});

test.each(["", " ", "a b", "a#b", "a/b", "é", "a\n", "a".repeat(65)])("%j is not", (account) => {
  expect(parse(accountCommand, "--account", account)).toMatch(
    /has 1 to 64 letters, digits, '_', '\.' or '-'/,
  );
});

test("a command on an account needs its name, one on all accounts must not have it", () => {
  expect(parse(accountCommand)).toMatch(/required option '--account <id>' not specified/);
  expect(parse(accountOrAllCommand, "--all", "--account", "a")).toMatch(/cannot be used with option/);
  expect(parse(accountOrAllCommand, "--all")).toEqual({ all: true, units: 1500 });
  expect(parse(itemCommand, "--dry-run")).toEqual({ dryRun: true });
});

test("without a table, no command works on one", async () => {
  await expect(selectTableByOptions({})).rejects.toThrow(UserError);
});

test("a command attempts each call ten times, and waits longer than a route: ten seconds", async () => {
  const server = createServer((_, response) => void response.end("{}"));
  const endpoint = await listening(server);
  onTestFinished(() => void server.close());
  await selectTableByOptions({ table: "named" }, { ...localConfig, endpoint });
  expect([tableName, await table.config.maxAttempts()]).toEqual(["named", 10]);
  // The handler reads its settings with the first call.
  await table.send(new GetCommand({ TableName: tableName, Key: { pk: "a", sk: "a" } }));
  const handler = table.config.requestHandler as unknown as { httpHandlerConfigs(): object };
  expect(handler.httpHandlerConfigs()).toMatchObject({
    connectionTimeout: 5000,
    requestTimeout: 10_000,
    throwOnRequestTimeout: true,
  });
});
