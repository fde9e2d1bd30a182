import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { useTablesOfCommands } from "../../support/memory-tables.ts";
import { aLead } from "../../support/requests.ts";
import { program } from "./support/program.ts";

useTablesOfCommands();

const account = randomUUID();
await aLead(account);

/** Runs a command on the account. @returns what it prints */
const ops = async (line: string) =>
  (await program([...line.split(" "), "--account", account, "--table", tableName])).stdout;

test("accounts set-limit and show-limit", async () => {
  expect(await ops("accounts set-limit --requests 20000")).toBe(
    `The account ${account} has a limit of 20000 requests in each window.\n`,
  );
  expect(JSON.parse(await ops("accounts show-limit --json"))).toEqual({ account, requests: 20_000 });
  await ops("accounts set-limit --requests stage");
  expect(await ops("accounts show-limit")).toBe(`The account ${account} has the rate limit of its stage.\n`);
});
