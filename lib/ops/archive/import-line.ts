import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { conversationItem } from "../../../shared/domain/conversations.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import {
  accountLimitKey,
  activeConversationKey,
  erasedLeadKey,
  leadImportKey,
  messageKey,
} from "../../../shared/dynamodb/keys.ts";
import { type Item, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import type { Pace } from "../common/pace.ts";
import type { AccountLine } from "./account-lines.ts";

/** The import of a file into an account. */
export interface AccountImport {
  readonly account: string;
  /** Identifies this run of the import. Its items have it, and cause no events. */
  readonly runId: string;
  /** The ids of the leads that are erased; those of the file are added. */
  readonly erased: Set<string>;
  /** Those of them of which the file has had nothing: of the others, an import that ended early may have stored something. */
  readonly unmet: Set<string>;
  readonly pace: Pace;
}

/** What became of a line: this run has stored it, an earlier one had, or its lead is erased. */
export type LineOutcome = "imported" | "present" | "erased";

/** Stores what a line has, unless an earlier run has stored it, or its lead is erased. */
export async function importLine(accountImport: AccountImport, line: AccountLine): Promise<LineOutcome> {
  const { account, erased, unmet } = accountImport;
  const isErased = (leadId: string) => {
    unmet.delete(leadId);
    return erased.has(leadId);
  };
  const store = (item: Item) => putOnce(accountImport, item);
  switch (line.type) {
    case "erasedLead": {
      const { leadId, id } = line;
      erased.add(leadId);
      unmet.add(leadId);
      return store({ ...erasedLeadKey(account, leadId), id, leadId });
    }
    case "leadImport":
      return store({ ...leadImportKey(account, line.sha256), startedAt: line.startedAt });
    case "limit":
      return store({ ...accountLimitKey(account), requests: line.requests });
    case "lead": {
      const { type, ...lead } = line;
      return isErased(lead.id) ? "erased" : store(leadItem(account, lead));
    }
    case "conversation": {
      const { type, ...conversation } = line;
      if (isErased(conversation.leadId)) return "erased";
      if (conversation.status === active) await store(pointerItem(account, conversation));
      return store(conversationItem(account, conversation));
    }
    case "message": {
      const { type, ...message } = line;
      if (isErased(message.leadId)) return "erased";
      return store({ ...messageKey(account, message.conversationId, message.id), ...message });
    }
  }
}

const pointerItem = (account: string, { id, leadId, channel }: Conversation) => ({
  ...activeConversationKey(account, leadId, channel),
  conversationId: id,
});

/** Stores an item unless it exists. */
async function putOnce({ runId, pace }: AccountImport, item: Item): Promise<"imported" | "present"> {
  const put = new PutCommand({
    TableName: tableName,
    Item: { ...item, imported: runId },
    ConditionExpression: "attribute_not_exists(pk)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  try {
    await pace.retry(() => table.send(put));
    return "imported";
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // An earlier attempt of this run, whose response was lost, may have stored it.
    return error.Item?.imported?.S === runId ? "imported" : "present";
  }
}
