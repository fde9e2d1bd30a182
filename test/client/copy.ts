import type { Conversation, Lead } from "../../docs/client/client.ts";
import type { Copy, Rows } from "../../docs/client/recipes.ts";

/** A copy in memory, which never forgets an erasure. */
export function createCopy() {
  const erased = new Set<string>();
  const rowsOf = <Row extends { readonly id: string; readonly leadId?: string }>() => {
    const stored = new Map<string, Row>();
    const rows: Rows<Row> = {
      ids: async () => stored.keys(),
      put: async (some) => {
        for (const row of some) if (!erased.has(row.leadId ?? row.id)) stored.set(row.id, row);
      },
      remove: async (ids) => {
        for (const id of ids) stored.delete(id);
      },
    };
    return { stored, rows };
  };
  const [leads, conversations] = [rowsOf<Lead>(), rowsOf<Conversation>()];
  const copy: Copy = {
    leads: leads.rows,
    conversations: conversations.rows,
    erase: async (leadId) => {
      erased.add(leadId);
      leads.stored.delete(leadId);
      for (const { id, ...row } of conversations.stored.values())
        if (row.leadId === leadId) conversations.stored.delete(id);
    },
  };
  return { copy, leads: leads.stored, conversations: conversations.stored };
}
