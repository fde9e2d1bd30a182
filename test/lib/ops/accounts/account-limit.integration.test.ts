import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readLimit } from "../../../../lib/ops/accounts/account-limit.ts";
import { createDataDirectory, ops as runOps } from "../../../support/ops.ts";

const dataDirectory = await createDataDirectory();
const ops = (command: string, ...args: string[]) =>
  runOps(["accounts", ...command.split(" "), ...args], { dataDirectory });

test("ops accounts sets, shows and unsets the limit of an account", async () => {
  const account = randomUUID();
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
  const account = randomUUID();
  const on = ["--account", account, "--local"];
  await ops("set-limit --requests 9", ...on);
  expect((await ops(command, ...on, "--dry-run")).stdout).toBe(`The account ${account} ${sentence}.\n`);
  const printed = await ops(command, ...on, "--dry-run", "--json");
  expect(JSON.parse(printed.stdout)).toEqual({ account, requests });
  expect(await readLimit(account)).toEqual({ account, requests: 9 });
});

test.each([
  ...["0", "-1", "1.5", "100000001", "many"].map((text): [string, RegExp] => [
    `set-limit --account a --local --requests ${text}`,
    /A limit is a whole number from 1 to 100000000\.\n$/,
  ]),
  ["set-limit --account a --local", /--requests/],
  ["set-limit --local --requests 5", /--account/],
  [
    "show-limit --account a --stage Prod",
    /A stage's name has 1 to 21 lower-case letters, digits or '-', the first one a letter\.\n$/,
  ],
  ["show-limit --account a", /^Name the table: --local, --stage NAME or --table NAME\.\n$/],
])("ops accounts %s fails with one sentence", async (command, sentence) => {
  const { code, stdout, stderr } = await ops(command);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toMatch(/\n +at /);
});
