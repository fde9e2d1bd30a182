import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readLimit } from "../../../../lib/ops/accounts/account-limit.ts";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { createDataDirectory, ops as runOps } from "../../../support/ops.ts";

const dataDirectory = await createDataDirectory();
const ops = (command: string, ...args: string[]) =>
  runOps(["accounts", ...command.split(" "), ...args], { dataDirectory });

async function anAccount(): Promise<string> {
  const account = randomUUID();
  await issueApiKey(account);
  return account;
}

test("ops accounts sets, shows and unsets the limit of an account", async () => {
  const account = await anAccount();
  const on = ["--account", account, "--local"];
  expect((await ops("show-limit", ...on)).stdout).toBe(
    `The account ${account} has the rate limit of its stage.\n`,
  );
  expect((await ops("set-limit --requests 20000", ...on)).stdout).toBe(
    `The account ${account} has a limit of 20000 requests in each window.\n`,
  );
  expect(await readLimit(account)).toEqual({ account, requests: 20_000 });
  const shown = await ops("show-limit --json", ...on);
  expect(JSON.parse(shown.stdout)).toEqual({ account, requests: 20_000 });
  const unset = await ops("unset-limit --json", ...on);
  expect(JSON.parse(unset.stdout)).toEqual({ account, requests: null });
  expect(await readLimit(account)).toEqual({ account, requests: null });
});

test.each([
  ["set-limit --requests 7", 7, "would have a limit of 7 requests in each window"],
  ["unset-limit", null, "would have the rate limit of its stage"],
])("ops accounts %s --dry-run changes nothing", async (command, requests, sentence) => {
  const account = await anAccount();
  const on = ["--account", account, "--local"];
  await ops("set-limit --requests 9", ...on);
  expect((await ops(command, ...on, "--dry-run")).stdout).toBe(`The account ${account} ${sentence}.\n`);
  const printed = await ops(command, ...on, "--dry-run", "--json");
  expect(JSON.parse(printed.stdout)).toEqual({ account, requests });
  expect(await readLimit(account)).toEqual({ account, requests: 9 });
});
