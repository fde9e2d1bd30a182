import { expect, test } from "vitest";
import { accountsCommand } from "../../../lib/ops/accounts/accounts-command.ts";
import { keysCommand } from "../../../lib/ops/keys/keys-command.ts";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { fillAccount } from "../../lib/ops/support/full-account.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { runCommand, runJson } from "../../support/commands/command.ts";
import { call } from "../../support/requests/call.ts";
import { aMessage } from "../../support/requests/requests.ts";
import { tableItems } from "../../support/tables/table-items.ts";

// Another test covers the waits of a freeze.
skipWaits();

/**
 * What each data format stores: the attributes by the form of the partition key, with the forms of index keys.
 * An entry never changes once it is released: a new shape gets a new entry, with the next number of `dataFormat`.
 */
const shapes: Readonly<Record<number, unknown>> = {
  1: {
    "ACCOUNT#*": "createdAt frozenAt requests sk",
    "ACTIVE#*#*": "conversationId formerId sk",
    "ADDRESS#*": "leadId sk",
    "CONVERSATION#*":
      "activeAt awaitingReplySince byLabel=CONVERSATION#*#* byParent=CONVERSATION#*#* byStatus=CONVERSATION#*#* byStatusAndLabel=CONVERSATION#*#*#* changeId changed channel failureId id lastInboundAt lastMessage leadId messageCount sk status",
    "ERASED#*": "id leadId sk",
    "EXTERNAL#*": "leadId sk",
    "IDEMPOTENCY#*#*": "expiresAt fingerprint ids response sk",
    "IMPORT#*": "importId leadId sk storedAt",
    "KEY#*": "access accountId byParent=KEY#* createdAt keyId label revokedAt sk validUntil",
    "LEAD#*":
      "activeAt addresses byLabel=LEAD#*#* byParent=LEAD#*#* byStatus=LEAD#*#* byStatusAndLabel=LEAD#*#*#* changeId changed details.createdAt details.email details.externalId details.metadata details.name details.score details.tags details.updatedAt id imported sk source status",
    "MESSAGE#*#*":
      "changeId changed channel conversationId createdAt delivery deliveryError direction id leadId message metadata providerId sk template to",
  },
};

/** The form of a key, which equal kinds of items share: the type and one * for each part after it. */
const form = (key: unknown) => String(key).replaceAll(/#[^#]*/g, "#*");

const indexed = ["byStatus", "byLabel", "byStatusAndLabel", "byParent"];

const describe = (item: Item) =>
  Object.keys(item)
    .filter((name) => name !== "pk" && name !== "details")
    .concat(Object.keys(Object(item.details)).map((name) => `details.${name}`))
    .sort()
    .map((name) => (indexed.includes(name) ? `${name}=${form(item[name])}` : name));

test("a new shape of stored items needs a new number of the data format", async () => {
  const account = "acme";
  const on = ["--account", account];
  const { ada } = await fillAccount(account);
  await aMessage(account, ada, "sms", { metadata: { plan: "pro" } });
  const changed = { query: "ifExists=update", body: { id: ada, score: 1 } };
  expect((await call("create-lead", { account, ...changed })).status).toBe(200);
  const key = await runJson(keysCommand(), "issue", ...on, "--valid-for", "1d", "--label", "all");
  for (const [command, ...args] of [
    [keysCommand(), "revoke", ...on, "--key", key.output.keyId, "--yes"],
    [accountsCommand(), "freeze", ...on, "--cache-seconds", "0"],
  ] as const) {
    const { failure } = await runCommand(command, ...args);
    expect([args[0], failure]).toEqual([args[0], undefined]);
  }
  const stored: Record<string, Set<string>> = {};
  for (const item of (await tableItems()).values()) {
    // Counts can be rebuilt, and windows of the rate limit expire within minutes.
    if (/^(?:COUNT|RATE)#/.test(String(item.pk))) continue;
    const key = form(item.pk);
    stored[key] = new Set([...(stored[key] ?? []), ...describe(item)]);
  }
  const shape = Object.fromEntries(
    Object.entries(stored)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, names]) => [key, [...names].sort().join(" ")]),
  );
  expect(shape).toEqual(shapes[dataFormat]);
});
