import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { setConversationStatus } from "../../../lib/ops/conversations/conversation-status.ts";
import { issueApiKey, listApiKeys } from "../../../lib/ops/keys/api-key-changes.ts";
import { call } from "../../support/call.ts";
import { createDataDirectory, ops } from "../../support/ops.ts";
import { aLead, aMessage } from "../../support/requests.ts";

const dataDirectory = await createDataDirectory();
const account = randomUUID();
const lead = await aLead(account);
const { conversationId } = await aMessage(account, lead.id);
const ended = (await aMessage(account, lead.id, "instagram")).conversationId;
await setConversationStatus(account, ended, "closed", Date.now() + 10_000);
const { keyId } = await issueApiKey(account);

const stored = async () => [
  (await call("list-leads", { account })).body,
  (await call("list-conversations", { account })).body,
  await listApiKeys(account),
];

test.each([
  ["keys issue --label web", { accountId: account, label: "web" }, /would be issued, valid forever/],
  [`keys revoke --key ${keyId}`, { keyId, revokedAt: expect.any(String) }, /would be revoked/],
  [`keys rotate --key ${keyId}`, { replaced: { keyId, validUntil: expect.any(String) } }, /would be issued/],
  [`leads set-status --lead ${lead.id} --status booked`, { ...lead, status: "booked" }, /the status booked/],
  [`leads set-score --lead ${lead.id} --score 7`, { ...lead, score: 7 }, /would have .* the score 7/],
  [
    `conversations set-status --conversation ${conversationId} --status closed`,
    { id: conversationId, status: "closed" },
    /would have the status closed/,
  ],
  [
    `conversations set-status --conversation ${ended} --status active`,
    { id: ended, status: "active" },
    /would have the status active/,
  ],
  ["counts rebuild", { account, rebuilt: false, rows: 3 }, / 3 rows would be read, at most three times/],
])("ops %s --dry-run prints what the command would do, and changes nothing", async (command, json, sentence) => {
  const before = await stored();
  const args = [...command.split(" "), "--account", account, "--local", "--dry-run"];
  const printed = await ops([...args, "--json"], { dataDirectory });
  expect({ ...printed, stdout: JSON.parse(printed.stdout) }).toMatchObject({
    code: 0,
    stdout: json,
    stderr: "",
  });
  expect((await ops(args, { dataDirectory })).stdout).toMatch(sentence);
  expect(await stored()).toEqual(before);
});
