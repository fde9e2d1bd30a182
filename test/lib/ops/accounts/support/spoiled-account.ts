import { randomUUID } from "node:crypto";
import { NumberValue, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";
import { setConversationStatus } from "../../../../../lib/ops/conversations/conversations-command.ts";
import { setLeadFields } from "../../../../../lib/ops/leads/leads-command.ts";
import { activeConversationKey, conversationKey, leadKey } from "../../../../../shared/dynamodb/keys.ts";
import { type Key, table, tableName } from "../../../../../shared/dynamodb/table-client.ts";
import { copyTable } from "../../../../support/memory-tables.ts";
import { aLead, aMessage } from "../../../../support/requests.ts";
import { put, remove, tableItems } from "../../../../support/table-items.ts";
import { restoredItems } from "./restored-items.ts";

/** A time in milliseconds. */
export const hour = 3_600_000;

/** Does something at a time in the past, in milliseconds before now. */
export async function ago<T>(time: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - time });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

/** Such an account, and a copy of the table. */
export async function anAccount(account: string = randomUUID()) {
  const data = await aFilledAccount(account);
  return { ...data, from: copyTable(), before: restoredItems(await tableItems(), account) };
}

/** An account with two leads, four conversations and six messages of an hour ago. */
export async function aFilledAccount(account: string = randomUUID()) {
  const [ada, grace] = await ago(hour, async () => {
    const leads = [
      await aLead(account, {
        ...{ email: "ada@example.com", source: "fair", externalId: "crm-ada", metadata: { plan: "pro" } },
      }),
      await aLead(account, { name: "Grace" }),
    ] as const;
    return Promise.all(
      leads.map(async ({ id }) => {
        const whatsapp = (await aMessage(account, id)).conversationId;
        await aMessage(account, id);
        const { conversationId: email } = await aMessage(account, id, "email");
        return { id, whatsapp, email };
      }),
    );
  });
  if (!ada || !grace) throw new Error("There are two.");
  return { account, ada, grace };
}

export const close = (account: string, id: string) => setConversationStatus(account, id, "closed");

type FilledAccount = Awaited<ReturnType<typeof aFilledAccount>>;

/** Spoils data of an account: it deletes items, changes and removes their fields, and adds one. @returns the key of a message with another text */
export async function spoil({ account, ada, grace }: FilledAccount) {
  const items = restoredItems(await tableItems(), account);
  await remove(leadKey(account, ada.id));
  await setLeadFields(account, grace.id, { status: "booked" });
  const update = { TableName: tableName, Key: leadKey(account, grace.id) };
  await table.send(
    new UpdateCommand({
      ...update,
      // In an hour, the table would delete it.
      UpdateExpression: "SET expiresAt = :t, score = :s REMOVE tags",
      ExpressionAttributeValues: {
        ":t": Math.ceil(Date.now() / 1000) + 3600,
        ":s": NumberValue.from("12345678901234567890123456789012345678"),
      },
    }),
  );
  await remove(conversationKey(account, ada.whatsapp));
  await close(account, ada.email);
  const messages = Object.values(items).filter(({ pk }) => String(pk).startsWith("MESSAGE"));
  const [deleted, changed] = messages.filter(({ conversationId }) => conversationId === grace.whatsapp);
  await remove(deleted as Key);
  await put({ ...changed, message: "Spoiled" });
  await remove(activeConversationKey(account, grace.id, "email"));
  return { pk: changed?.pk, sk: changed?.sk } as Key;
}
