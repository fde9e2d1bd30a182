import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { writeLimit } from "../../../lib/ops/accounts/accounts-limit.ts";
import { setConversationStatus } from "../../../lib/ops/conversations/conversation-status.ts";
import { issueApiKey, listApiKeys } from "../../../lib/ops/keys/api-key-changes.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { readAccountLimit } from "../../../shared/rate-limit/rate-limit.ts";
import { call } from "../../support/call.ts";
import { aLead, aMessage } from "../../support/requests.ts";
import { program } from "./support/program.ts";

const account = randomUUID();
const lead = await aLead(account, { source: "website" });
const { conversationId } = await aMessage(account, lead.id);
const ended = (await aMessage(account, lead.id, "instagram")).conversationId;
await setConversationStatus(account, ended, "closed", Date.now() + 10_000);
const { keyId } = await issueApiKey(account);
await writeLimit({ account, requests: 9 });

const ops = (line: string, ...args: string[]) =>
  program([...line.split(" "), "--account", account, "--table", tableName, ...args]);

const stored = async () => [
  (await call("list-leads", { account })).body,
  (await call("list-conversations", { account })).body,
  await listApiKeys(account),
  await readAccountLimit(account),
];

/** Command lines, what they print as JSON and as a sentence, which begins otherwise with `--dry-run`. */
test.each([
  [
    "keys issue --label web",
    { accountId: account, label: "web" },
    "A key of the account ~ would be issued, valid forever",
  ],
  [
    `keys revoke --key ${keyId}`,
    { keyId, revokedAt: expect.any(String) },
    `The key ${keyId} would be revoked`,
  ],
  [
    `keys rotate --key ${keyId}`,
    { replaced: { keyId, validUntil: expect.any(String) } },
    `A key would be issued, and the key ${keyId} would be valid until`,
  ],
  [
    `leads set-status --lead ${lead.id} --status booked`,
    { ...lead, status: "booked" },
    `The lead ${lead.id} would have the status booked and the score 0`,
  ],
  [
    `leads set-score --lead ${lead.id} --score 7`,
    { ...lead, score: 7 },
    `The lead ${lead.id} would have the status new and the score 7`,
  ],
  [
    `conversations set-status --conversation ${conversationId} --status closed`,
    { id: conversationId, status: "closed" },
    `The conversation ${conversationId} would have the status closed`,
  ],
  [
    `conversations set-status --conversation ${ended} --status active`,
    { id: ended, status: "active" },
    `The conversation ${ended} would have the status active`,
  ],
  [
    "accounts set-limit --requests 7",
    { account, requests: 7 },
    `The account ${account} would have a limit of 7 requests in each window`,
  ],
  [
    "accounts set-limit --requests stage",
    { account, requests: null },
    `The account ${account} would have the rate limit of its stage`,
  ],
])("ops %s --dry-run prints what the command would do, and changes nothing", async (line, json, sentence) => {
  const before = await stored();
  const { stdout, ...others } = await ops(line, "--dry-run", "--json");
  expect({ ...others, json: JSON.parse(stdout) }).toMatchObject({ code: 0, stderr: "", json });
  const [start = "", end = ""] = sentence.split("~");
  const printed = (await ops(line, "--dry-run")).stdout;
  expect(printed).toContain(start);
  expect(printed).toContain(end);
  expect(await stored()).toEqual(before);
});

test("leads set-status and set-score print the lead that they have changed", async () => {
  const account = randomUUID();
  const lead = await aLead(account);
  const onLead = async (line: string) =>
    (await program([...line.split(" "), "--account", account, "--lead", lead.id, "--table", tableName]))
      .stdout;
  const booked = { ...lead, status: "booked" };
  expect(JSON.parse(await onLead("leads set-status --status booked --json"))).toEqual(booked);
  expect(await onLead("leads set-score --score 100")).toBe(
    `The lead ${lead.id} has the status booked and the score 100.\n`,
  );
  for (const query of ["", "status=booked"])
    expect((await call("list-leads", { account, query })).body.data).toEqual([{ ...booked, score: 100 }]);
});

test("accounts set-limit and show-limit", async () => {
  expect((await ops("accounts set-limit --requests 20000")).stdout).toBe(
    `The account ${account} has a limit of 20000 requests in each window.\n`,
  );
  const shown = await ops("accounts show-limit", "--json");
  expect(JSON.parse(shown.stdout)).toEqual({ account, requests: 20_000 });
  await ops("accounts set-limit --requests stage");
  expect((await ops("accounts show-limit")).stdout).toBe(
    `The account ${account} has the rate limit of its stage.\n`,
  );
});
