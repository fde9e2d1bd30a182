import { SSMClient } from "@aws-sdk/client-ssm";
import { beforeEach, expect, test, vi } from "vitest";
import { deleteSecret, getSecret, putSecret } from "../../../../lib/ops/channels/secret-store.ts";
import {
  createTableClient,
  type Item,
  selectTable,
  table,
} from "../../../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { anAccount } from "../../../support/commands/lead-files.ts";
import { temporaryDirectory } from "../../../support/stack/temporary-directory.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { program } from "../support/program.ts";

const token = "EAAG".padEnd(40, "x");
const stored: object[] = [];
const memory = useTablesOfCommands();
for (const account of ["acme", "other", "whatsapp"]) await anAccount(account);
const start = memory.snapshot();
beforeEach(() => {
  memory.restore(start);
  stored.length = 0;
  vi.spyOn(SSMClient.prototype, "send").mockImplementation((async ({ input }: { input: object }) =>
    stored.push(input)) as never);
});

const run = (account: string, name: string, args: readonly string[] = [], input = `${token}\n`) =>
  program(["channels", name, "--account", account, ...args, "--table", "unit"], { input });
const via = (sender: string, channel = "whatsapp") => ["--channel", channel, "--sender", sender];
const whatsapp = via("106540352242922");

test("a channel is connected, listed and disconnected, and its token is never printed or stored in the table", async () => {
  const connected = await run("acme", "connect", whatsapp);
  expect(stored).toEqual([
    {
      ...{ Name: "/unit/channels/whatsapp/106540352242922/token", Value: token },
      ...{ Type: "SecureString", Overwrite: true },
    },
  ]);
  const { stdout } = await run("acme", "list", ["--json"]);
  expect(JSON.parse(stdout)).toMatchObject([{ channel: "whatsapp", sender: "106540352242922" }]);
  expect(JSON.stringify([...memory.items(), connected])).not.toContain(token);
  const left = await run("acme", "disconnect", ["--channel", "whatsapp"]);
  expect([connected.code, left.code, stored.length]).toEqual([0, 0, 2]);
  expect((await run("acme", "list")).stdout).toBe("The account acme has connected no channel.\n");
});

test.each<[string, string[], string, RegExp]>([
  ["of another account", whatsapp, token, /The account acme has the sender/],
  ["that is a telephone number", via("+49 1"), token, /an id from Meta/],
  ["without a token", via("17841", "instagram"), "", /standard input/],
  ["with half a token", via("17841", "instagram"), "EAAGxxxxx", /20 to 2,000/],
  ["of another channel", via("17841", "sms"), token, /Allowed choices/],
])("a sender %s is not connected", async (_, args, input, reason) => {
  await run("acme", "connect", whatsapp);
  const before = JSON.stringify([...memory.items()]);
  const { code, stderr } = await run("other", "connect", args, input);
  expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
  expect(JSON.stringify([...memory.items()])).toBe(before);
});

test("--replace replaces the sender and its token, and keeps the time from which messages are sent", async () => {
  await run("acme", "connect", whatsapp);
  const list = async () => JSON.parse((await run("acme", "list", ["--json"])).stdout);
  const [before] = await list();
  const next = via("10000000000");
  const refused = await run("acme", "connect", next);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("pass --replace")]);
  for (let n = 0; n < 2; n++) expect((await run("acme", "connect", [...next, "--replace"])).code).toBe(0);
  expect(await list()).toEqual([{ ...before, sender: "10000000000" }]);
  const name = (sender: string) => ({ Name: `/unit/channels/whatsapp/${sender}/token` });
  expect(stored.slice(1, 4)).toMatchObject([
    name("10000000000"),
    name("106540352242922"),
    name("10000000000"),
  ]);
  // Another account can have the former sender.
  expect((await run("other", "connect", whatsapp)).code).toBe(0);
});

test("an erased account leaves neither connections nor tokens, and those of others stay", async () => {
  skipWaits();
  await run("acme", "connect", whatsapp);
  await run("other", "connect", via("10000000000"));
  const erase = ["accounts", "erase", "--table", "unit", "--yes", "--cache-seconds", "0"];
  for (const account of ["acme", "whatsapp"])
    expect((await program([...erase, "--account", account])).code).toBe(0);
  expect(stored.at(-1)).toEqual({ Name: "/unit/channels/whatsapp/106540352242922/token" });
  const keys = [...memory.items()].map(({ pk, sk }) => `${pk} ${sk}`);
  expect(keys.filter((key) => /^(CHANNEL|SENDER)#/.test(key)).sort()).toEqual([
    "CHANNEL#other whatsapp",
    "SENDER#whatsapp 10000000000",
  ]);
});

test.each<[string, string, number]>([
  ["channels disconnect --channel whatsapp", "other", 0],
  ["accounts erase --yes --cache-seconds 0", "other", 0],
  ["accounts erase --yes --cache-seconds 0", "", 1],
])("%s leaves no connection by a sender of the account %j", async (line, accountId, deletedTokens) => {
  skipWaits();
  await run("acme", "connect", whatsapp);
  const sender = { pk: "SENDER#whatsapp", sk: "106540352242922", accountId };
  memory.put(sender);
  const { code } = await program([...line.split(" "), "--account", "acme", "--table", "unit"]);
  expect(code).toBe(0);
  const isLeft = ({ pk, sk }: Item) => pk === "CHANNEL#acme" || sk === sender.sk;
  expect([...memory.items()].filter(isLeft)).toEqual([sender]);
  // The token is that of the sender's account, if there is one.
  expect(stored).toHaveLength(1 + deletedTokens);
});

test("--replace leaves a sender that another account has, with its token", async () => {
  await run("acme", "connect", whatsapp);
  const sender = { pk: "SENDER#whatsapp", sk: "106540352242922", accountId: "other" };
  memory.put(sender);
  const { code } = await run("acme", "connect", [...via("10000000000"), "--replace"]);
  expect([code, stored.length]).toEqual([0, 2]);
  expect([...memory.items()]).toContainEqual(sender);
});

test("a token is stored in the region of the table, not in that of the environment", async () => {
  const calls: unknown[] = [];
  vi.spyOn(SSMClient.prototype, "send").mockImplementation(async function (
    this: SSMClient,
    { input }: { input: { Name: string } },
  ) {
    calls.push([await this.config.region(), input.Name]);
    return {};
  } as never);
  vi.stubEnv("AWS_REGION", "us-east-1");
  selectTable("unit", { region: "eu-central-1" });
  await putSecret({}, "x", token);
  await deleteSecret({}, "x");
  const client = createTableClient({ region: "eu-north-1" });
  const name = "arn:aws:dynamodb:eu-north-1:111111111111:table/other";
  expect(await getSecret({}, { client, name }, "x")).toBeUndefined();
  const own = ["eu-central-1", "/unit/x"];
  expect(calls).toEqual([own, own, ["eu-north-1", "/other/x"]]);
});

test("the tokens of the local run are in one file", async () => {
  vi.stubEnv("DATA_DIR", await temporaryDirectory());
  const other = { client: table, name: "other" };
  expect(await getSecret({ local: true }, other, "x")).toBeUndefined();
  await putSecret({ local: true }, "x", token);
  expect(await getSecret({ local: true }, other, "x")).toBe(token);
});
