import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { conversationItem, listConversations } from "../../../shared/domain/conversations.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { createdAt, newId } from "../../../shared/ids.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import { Account } from "./account.ts";
import { advanceClock } from "./clock.ts";
import { buildRows } from "./lead-rows.ts";
import { readPage } from "./read-list.ts";
import type { Report } from "./report.ts";

/** A name as long as a UUID, which each key of an item has. */
const name = "7ab7a31b-38c4-4b4b-9f5f-0a6f2a1c7d5e";

/** Reads a page of the conversations of one lead, which have no tree: all of them are read. */
export async function measureConversations(report: Report): Promise<void> {
  const table = [];
  const account = new Account(name, buildRows(1));
  const leadId = account.rows[0]?.id ?? "";
  const rows: { id: string }[] = [];
  for (const size of [200, 1000, 5000]) {
    while (rows.length < size) {
      advanceClock(1000);
      const id = newId("conv");
      const conversation = { id, leadId, channel: "whatsapp", status: active, messageCount: 1 };
      const Item = conversationItem(account.name, { ...conversation, lastMessageAt: createdAt(id) });
      account.memory.execute(new PutCommand({ TableName: tableName, Item }));
      rows.push({ id });
    }
    const list = { name: leadId, rows, read: listConversations.bind(undefined, account.name, { leadId }) };
    const { read, calls } = await readPage(list, 1);
    table.push({ conversations: size, R: read, calls });
  }
  report.section("Conversations of one lead", "Each page reads all of them.", table);
}
