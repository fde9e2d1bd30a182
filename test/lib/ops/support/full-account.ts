import { randomUUID } from "node:crypto";
import { writeLimit } from "../../../../lib/ops/accounts/accounts-settings.ts";
import { beginErasure, endErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { updateConversation } from "../../../../shared/domain/conversations/update-conversation.ts";
import * as keys from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../../../shared/pages/tree/counted-list.ts";
import { encodeEntries, rowEntry } from "../../../../shared/pages/tree/entry.ts";
import { emptyRoot, rootItem } from "../../../../shared/pages/tree/root.ts";
import { treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import { runCommand } from "../../../support/commands/command.ts";
import { leadFile } from "../../../support/commands/lead-files.ts";
import { call } from "../../../support/requests/call.ts";
import { aLead, aMessage, report } from "../../../support/requests/requests.ts";
import { put, tableItems } from "../../../support/tables/table-items.ts";

export const email = "ada@example.com";

/**
 * Fills an account with items of every type: three leads, one of them imported, ten conversations with thirteen messages, one
 * of which failed, while another waits for a reply, the note of an erased lead, a limit, a window of the rate limit, and the
 * trees of the leads and of their source `fair`.
 *
 * @returns the ids that tests name
 */
export async function fillAccount(account: string) {
  // The same key in each account, except for the account's name.
  const key = { byParent: keys.accountPartition("apiKey", account), keyId: account, accountId: account };
  const fields = { access: "full", label: "web", createdAt: "2026-01-01T00:00:00.000Z" };
  await put({ ...keys.apiKeyKey("hash", account), ...key, ...fields });
  await put({ ...keys.accountKey(account), createdAt: fields.createdAt });
  const names = { externalId: "crm-ada", addresses: { email: [email] } };
  const body = { name: "Ada", email, source: "fair", ...names, metadata: { plan: "pro" } };
  const headers = { "idempotency-key": randomUUID() };
  const { id: ada } = (await call("create-lead", { account, body, headers })).body;
  const { id: grace } = await aLead(account, { name: "Grace", source: "web" });
  let lastId = "";
  const talk = async (leadId: string, channel: string, messages: number, status = "active") => {
    let conversationId = "";
    for (let i = 0; i < messages; i++) {
      const direction = i === 1 ? "inbound" : "outbound";
      const more = i === 0 && { template: { name: "welcome", language: "en", parameters: ["Ada"] } };
      ({ conversationId, id: lastId } = await aMessage(account, leadId, channel, { direction, ...more }));
    }
    if (status !== "active") await updateConversation(account, { id: conversationId, status });
    return conversationId;
  };
  const chat = await talk(ada, "email", 3);
  const state = { delivery: "failed", deliveryError: "131026: Undeliverable", providerId: "wamid.1" };
  await report(account, { id: lastId, conversationId: chat }, state, headers);
  const mail = await talk(ada, "whatsapp", 2);
  const old = await talk(ada, "sms", 1, "closed");
  await talk(grace, "whatsapp", 1);
  // Eight conversations are exported at a time.
  for (const channel of ["email", "a", "b", "c", "d", "e"]) await talk(grace, channel, 1, "closed");
  const { id: gone } = await aLead(account);
  await beginErasure(account, gone, new Pace());
  await endErasure(account, gone, new Pace());
  await runCommand(importCommand(), await leadFile("name\nMary\n"), "--account", account);
  await writeLimit(account, 5);
  await put({ ...keys.rateWindowKey(account, 0), used: 1, expiresAt: 4_000_000_000 });
  const labelKey = keys.accountPartition("lead", account, "fair");
  const list = { account, list: countedLists.lead };
  const root = rootItem({ ...emptyRoot(1), version: 1 });
  for (const owner of [list, { ...list, labelKey }]) await put({ ...treeKey(owner, "root"), ...root });
  await put({ ...keys.labelTreeKey("lead", account, labelKey), labelKey });
  const entries = encodeEntries([rowEntry("lead_0", 0)]);
  await put({ ...keys.countNodeKey("lead", account, "node#1#1#"), entries });
  return { ada, grace, chat, mail, old };
}

/** The items of an account in the table. */
export const itemsOf = async (account: string): Promise<ReadonlyMap<string, Item>> =>
  new Map(
    [...(await tableItems())].filter(
      ([key, { accountId }]) => new RegExp(`#${account}[# ]`).test(key) || accountId === account,
    ),
  );

/** Replaces the texts of an item's attributes, but not the texts inside maps and lists. */
export const withTexts = (item: Item, replace: (text: string) => string): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, typeof value === "string" ? replace(value) : value]),
  );
