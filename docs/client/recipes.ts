import {
  ApiError,
  type ApiEvent,
  type Client,
  type Conversation,
  type ConversationsQuery,
  type Lead,
  type MessageUpdate,
  type NewLead,
  type Page,
  parseEvent,
  readPages,
} from "./client.ts";

/** The id of a form's lead: the new one, or the one that has the `externalId` since the form was sent before. */
export async function findOrCreateLead(client: Client, lead: NewLead & { readonly externalId: string }) {
  try {
    return (await client.createLead(lead)).id;
  } catch (error) {
    if (error instanceof ApiError && error.id) return error.id;
    throw error;
  }
}

/** Greets each lead of a source once, also if the program ends anywhere and runs again within 24 hours. */
export async function greetLeads(client: Client, source: string): Promise<void> {
  for await (const { data } of client.leadPages({ source })) {
    for (const { id: leadId, name } of data) {
      const message = { leadId, channel: "whatsapp", message: `Hello ${name}` };
      await client.sendMessage(message, { idempotencyKey: `welcome-${leadId}` });
    }
  }
}

/** A message that a provider's webhook has. */
export interface ReceivedMessage {
  /** The provider's id of it. */
  readonly id: string;
  readonly channel: string;
  /** What the provider knows the lead by, such as a phone number, in the form of your leads' `externalId`. */
  readonly from: string;
  readonly name: string;
  readonly text: string;
}

/** Stores a lead's message once, also if its webhook comes again within 8 days. A lead that is new is created. */
export async function receiveMessage(client: Client, { id, channel, from, name, text }: ReceivedMessage) {
  const known = await client.findLeadsByExternalId([from]);
  const lead = { name: name.trim() || from, externalId: from, source: channel };
  const leadId = known.get(from)?.id ?? (await findOrCreateLead(client, lead));
  // A text that is refused would come again for a week.
  const stored = [...text].slice(0, 4096).join("").trim() || "(no text)";
  const message = { leadId, channel, direction: "inbound", message: stored } as const;
  return client.sendMessage(message, { idempotencyKey: encodeURIComponent(`${channel}-${id}`) });
}

/** What a provider says of a message: its id of it, or why it refuses it. */
export type DeliveryResult = Pick<MessageUpdate, "delivery" | "deliveryError" | "providerId">;

/**
 * Reports what a provider says of a message, at once or later by a webhook. A provider that returns a text of yours,
 * such as the ids of the message, spares a table from its ids to yours.
 */
export async function reportDelivery(client: Client, report: MessageUpdate): Promise<void> {
  // Providers have more states, such as `deleted`.
  if (!["sent", "failed", "delivered", "read"].includes(report.delivery)) return;
  const { deliveryError = "", ...state } = report;
  const error = [...deliveryError.replaceAll(/\p{Cc}/gu, " ").trim()].slice(0, 500).join("");
  try {
    await client.updateMessage({ ...state, ...(error && { deliveryError: error }) });
  } catch (error) {
    // The lead has been erased meanwhile.
    if (!(error instanceof ApiError && error.code === "message_not_found")) throw error;
  }
}

/** Where a connector remembers the ids of the messages that it has delivered and their results, for at least 15 days. */
export interface Delivered {
  /**
   * Claims an id that has no result and is not claimed, by a conditional write. A claim ends by itself after a minute, so
   * that a program that has ended holds none.
   *
   * @returns the result if it has one
   */
  claim(id: string): Promise<"claimed" | "busy" | DeliveryResult>;
  add(id: string, result: DeliveryResult): Promise<void>;
  /** Takes a claim back. */
  release(id: string): Promise<void>;
}

/**
 * Delivers a message that a connector of a channel receives, unless it is delivered, and reports the result.
 *
 * @param body what the connector received
 * @param deliver must end within a minute, and throw if another attempt may succeed
 * @throws Error if it failed, or if the same event is being delivered: the sender must receive it as a failure, so that the
 *   event comes again
 */
export async function deliverMessage(
  client: Client,
  body: unknown,
  channel: string,
  delivered: Delivered,
  deliver: (message: Extract<ApiEvent, { type: "message.sent" }>) => Promise<DeliveryResult>,
): Promise<void> {
  const event = parseEvent(body);
  if (event?.type !== "message.sent" || event.channel !== channel) return;
  const { id, conversationId } = event;
  // A sender that had no response in time sends the event again, while the first delivery goes on.
  let result = await delivered.claim(id);
  if (result === "busy") throw new Error(`The message ${id} is being delivered.`);
  if (result === "claimed") {
    try {
      result = await deliver(event);
    } catch (error) {
      await delivered.release(id);
      throw error;
    }
    // If the program ends before this line, it delivers the message again: pass the id on if the channel takes one.
    await delivered.add(id, result);
  }
  await reportDelivery(client, { id, conversationId, ...result });
}

/**
 * A page of conversations with their leads, in two requests: those with the newest messages first, or with `awaitingReply`
 * those that wait for a reply, the longest waiting first. A lead that has just been erased is undefined.
 *
 * @returns the rows, and how many there are on all pages
 */
export async function readInbox(client: Client, query: Omit<ConversationsQuery, "sort">) {
  const order = query.awaitingReply ? {} : ({ sort: "-lastMessageAt" } as const);
  const { data, pagination } = await client.listConversations({ ...query, ...order });
  const leads = await client.findLeads(data.map(({ leadId }) => leadId));
  const rows = data.map((conversation) => ({ ...conversation, lead: leads.get(conversation.leadId) }));
  return { rows, total: pagination.total };
}

/**
 * Passes on rows from a time on.
 *
 * @param margin how long after its time a row may be listed, in milliseconds
 * @returns where the next synchronization starts
 */
async function sync<Row>(
  pages: AsyncGenerator<Page<Row>, void>,
  since: string,
  margin: number,
  store: (rows: readonly Row[]) => Promise<void>,
): Promise<string> {
  let until: number | undefined;
  for await (const { data, readAfter } of pages) {
    // What is stored after the first page was read may have a place on a page that has been read.
    // Without a readable Date, the next synchronization starts where this one did.
    until ??= Math.max(Date.parse(since), (readAfter || 0) - margin);
    await store(data);
  }
  return new Date(until ?? since).toISOString();
}

/** How long after the time in its id a row may be stored, with the differences of clocks, in milliseconds. */
const writeMargin = 10_000;

/** How long the index of conversations by their last message may be late, in milliseconds: normally less than a second. */
const indexMargin = 10_000;

/**
 * Passes on the leads that were created since the last synchronization, the oldest first; those of its last ten seconds
 * again.
 *
 * @returns where the next synchronization starts: store it when this one has ended
 */
export const syncLeads = (client: Client, since: string, store: (leads: readonly Lead[]) => Promise<void>) =>
  sync(client.leadPages({ createdAfter: since }), since, writeMargin, store);

/**
 * Passes on the conversations that had messages since the last synchronization, each with its newest one; those of its last
 * 20 seconds again. A conversation that has a message meanwhile can come twice, the newer one later.
 *
 * @returns where the next synchronization starts: store it when this one has ended
 */
export const syncConversations = (
  client: Client,
  since: string,
  store: (conversations: readonly Conversation[]) => Promise<void>,
) => {
  const pages = readPages<Conversation>(
    since,
    ({ lastMessageAt }) => lastMessageAt,
    (lastMessageAfter, paging) =>
      client.listConversations({ sort: "lastMessageAt", lastMessageAfter, ...paging }),
  );
  return sync(pages, since, writeMargin + indexMargin, store);
};

/** The rows of a copy. */
export interface Rows<Row> {
  ids(): Promise<Iterable<string>>;
  /** Stores rows by their ids, but none of a lead whose erasure the copy remembers. */
  put(rows: readonly Row[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
}

/** A copy of an account's leads and conversations in another system. */
export interface Copy {
  readonly leads: Rows<Lead>;
  readonly conversations: Rows<Conversation>;
  /** Deletes a lead and its conversations, and remembers the id for a day. */
  erase(leadId: string): Promise<void>;
}

/** Keeps a copy up to date: by events, and each night by reading everything. A copy has one mirror at a time. */
export function createMirror(client: Client, copy: Copy) {
  let turn: Promise<unknown> = Promise.resolve();
  /** Reads and then stores, one after the other: an older read must not overwrite a newer one. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = turn.then(work);
    turn = result.catch(() => {});
    return result;
  };

  /** Reads rows by their ids, and removes those that do not exist. */
  async function refresh<Row>(
    rows: Rows<Row>,
    ids: ReadonlySet<string>,
    find: (ids: Iterable<string>) => Promise<Map<string, Row>>,
  ): Promise<void> {
    const found = await find(ids);
    await rows.put([...found.values()]);
    await rows.remove([...ids].filter((id) => !found.has(id)));
  }

  /** Reads all rows. What the list does not have is looked up before it is removed: it may be new, or have moved. */
  async function reconcile<Row extends { readonly id: string }>(
    rows: Rows<Row>,
    pages: AsyncGenerator<Page<Row>, void>,
    find: (ids: Iterable<string>) => Promise<Map<string, Row>>,
  ): Promise<void> {
    const unlisted = new Set(await rows.ids());
    const storePage = async () => {
      const { value, done } = await pages.next();
      for (const { id } of value?.data ?? []) unlisted.delete(id);
      if (value) await rows.put(value.data);
      return !done;
    };
    while (await inTurn(storePage));
    await inTurn(() => refresh(rows, unlisted, find));
  }

  return {
    /** Events only say what to read: they may come late, twice and in any order. Pass many at once to save requests. */
    applyEvents: (events: readonly ApiEvent[]): Promise<void> =>
      inTurn(async () => {
        const [leads, conversations] = [new Set<string>(), new Set<string>()];
        for (const event of events) {
          const { id, leadId, conversationId }: Named = event;
          const [kind] = event.type.split(".");
          if (event.type === "lead.erased") await copy.erase(event.leadId);
          else if (kind === "lead") leads.add(leadId ?? id);
          else if (kind === "conversation" || kind === "message") conversations.add(conversationId ?? id);
        }
        await refresh(copy.leads, leads, client.findLeads);
        await refresh(copy.conversations, conversations, client.findConversations);
      }),

    /** Makes the copy what the API has, whatever happened since the last time. */
    async reconcile(): Promise<void> {
      await reconcile(copy.leads, client.leadPages(), client.findLeads);
      await reconcile(copy.conversations, client.conversationPages(), client.findConversations);
    },
  };
}

/** What an event names beside its own id. */
interface Named {
  readonly id: string;
  readonly leadId?: string;
  readonly conversationId?: string;
}
