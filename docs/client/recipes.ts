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
  type Template,
} from "./client.ts";

/** A lead with an external id or an address, which no request creates twice. */
export type NamedLead = NewLead & (Required<Pick<Lead, "externalId">> | Required<Pick<Lead, "addresses">>);

/**
 * Creates a lead, or finds the lead that has its `externalId` or one of its addresses, and returns the id. An API key that
 * may only create leads is enough.
 */
export async function findOrCreateLead(client: Client, lead: NamedLead) {
  try {
    return (await client.createLead(lead)).id;
  } catch (error) {
    if (error instanceof ApiError && error.id) return error.id;
    throw error;
  }
}

/**
 * Greets each lead of a source once, even if the program stops at any point and runs again within 24 hours.
 *
 * @param approved a template, such as "Hello {{1}}", without which WhatsApp delivers no first message
 */
export async function greetLeads(
  client: Client,
  source: string,
  approved: Pick<Template, "name" | "language">,
): Promise<void> {
  for await (const { data } of client.leadPages({ source })) {
    for (const { id: leadId, name } of data) {
      const template = { ...approved, parameters: [name] };
      const message = { leadId, channel: "whatsapp", message: `Hello ${name}`, template };
      await client.sendMessage(message, { idempotencyKey: `welcome-${leadId}` });
    }
  }
}

/** A message from a provider's webhook. */
export interface ReceivedMessage {
  /** The provider's id of the message. */
  readonly id: string;
  readonly channel: string;
  /** The lead's address on the channel, as the provider knows it, such as a telephone number. */
  readonly from: string;
  readonly name: string;
  readonly text: string;
}

/** A provider's text as the API accepts it: without control characters, not too long, and not blank. */
function toText(text: string, length: number, instead: string): string {
  const shown = [...text.replaceAll(/(?![\t\n\r])\p{Cc}/gu, " ").trim()].slice(0, length).join("");
  return /[^\s\p{DI}\uFFF9-\uFFFB\u2800]/u.test(shown) ? shown : instead;
}

/**
 * Stores a lead's message once, even if its webhook is redelivered within 8 days. The message belongs to the lead with the
 * address, or to a new lead with the name of the profile.
 */
export async function receiveMessage(client: Client, { id, channel, from, name, text }: ReceivedMessage) {
  const [known] = (await client.listLeads({ address: [`${channel}:${from}`] })).data;
  const profile = { name: toText(name.replaceAll(/\s/g, " "), 200, from), source: channel };
  const leadId =
    known?.id ?? (await findOrCreateLead(client, { ...profile, addresses: { [channel]: [from] } }));
  // The provider would redeliver a refused message for a week.
  const stored = toText(text, 4096, "(no text)");
  const message = { leadId, channel, direction: "inbound", message: stored } as const;
  return client.sendMessage(message, { idempotencyKey: encodeURIComponent(`${channel}-${id}`) });
}

/** A provider's result for a message: the provider's id of the message, or the reason for its refusal. */
export type DeliveryResult = Pick<MessageUpdate, "delivery" | "deliveryError" | "providerId">;

/**
 * Reports a provider's result for a message, from the response or from a later webhook. If the provider returns a text of
 * yours, let it contain the ids of the message: then you need no table from the provider's ids to yours.
 */
export async function reportDelivery(client: Client, report: MessageUpdate): Promise<void> {
  // Providers have more states, such as `deleted`.
  if (!["sent", "failed", "delivered", "read"].includes(report.delivery)) return;
  const { deliveryError = "", ...state } = report;
  const error = toText(deliveryError, 500, "");
  try {
    await client.updateMessage({ ...state, ...(error && { deliveryError: error }) });
  } catch (error) {
    // The lead has been erased meanwhile.
    if (!(error instanceof ApiError && error.code === "message_not_found")) throw error;
  }
}

/** Where a connector stores the results of the messages that it has delivered, by their ids, for at least 15 days. */
export interface Delivered {
  /**
   * Claims an id that has no result and is not claimed, by a conditional write. A claim ends by itself after a minute, so
   * that a program that has stopped holds no claims.
   *
   * @returns the result of the id, if there is one
   */
  claim(id: string): Promise<"claimed" | "busy" | DeliveryResult>;
  add(id: string, result: DeliveryResult): Promise<void>;
  /** Ends a claim without a result. */
  release(id: string): Promise<void>;
}

type MessageSent = Extract<ApiEvent, { type: "message.sent" }>;

/**
 * Delivers a message that a connector of a channel receives, unless it has been delivered, and reports the result. A
 * message to a lead without an address on the channel is reported as failed.
 *
 * @param body what the connector received
 * @param deliver must end within a minute, and throw if another attempt may succeed
 * @throws Error if the delivery failed, or if the same event is being delivered: respond to the sender with a failure, so
 *   that it redelivers the event
 */
export async function deliverMessage(
  client: Client,
  body: unknown,
  channel: string,
  delivered: Delivered,
  deliver: (message: MessageSent & { readonly to: string }) => Promise<DeliveryResult>,
): Promise<void> {
  const event = parseEvent(body);
  if (event?.type !== "message.sent" || event.channel !== channel) return;
  const { id, conversationId, to } = event;
  if (to === undefined) {
    const deliveryError = "The lead has no address on this channel.";
    return reportDelivery(client, { id, conversationId, delivery: "failed", deliveryError });
  }
  // A sender that gets no response in time redelivers the event while the first delivery goes on.
  let result = await delivered.claim(id);
  if (result === "busy") throw new Error(`The message ${id} is being delivered.`);
  if (result === "claimed") {
    try {
      result = await deliver({ ...event, to });
    } catch (error) {
      await delivered.release(id);
      throw error;
    }
    // If the program stops before this line, it delivers the message again: pass the id on if the channel accepts one.
    await delivered.add(id, result);
  }
  await reportDelivery(client, { id, conversationId, ...result });
}

/**
 * Reads a page of conversations with their leads, in two requests. The newest messages come first, or with `awaitingReply`
 * the conversations that have waited longest for a reply. A lead that has just been erased is undefined.
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

/** How far a synchronization has got. Keep it, for example as JSON. */
export interface Position {
  /** The time of the newest change that was passed on. */
  readonly newest: string;
  /** The rows of the minute before `newest` that were passed on, each as its id and the time of its change. */
  readonly seen: readonly string[];
}

interface Paging {
  readonly page: number;
  readonly limit: number;
}

/** How late the index and differing clocks may make a row appear after rows with newer times, in milliseconds. */
const margin = 60_000;

/** Whether a list is refused because too many rows were changed in its time range, as after an import. */
const hasTooMany = (error: unknown) =>
  error instanceof ApiError &&
  error.errors.some(
    ({ code, field }) => code === "out_of_range" && /^(?:updated|lastMessage)After$/.test(field),
  );

/**
 * Passes on the rows that were changed since the last synchronization, the oldest change first, and each change once. If
 * there are too many rows for one list, it reads the first half of the time range, and then the second half.
 *
 * @returns where the next synchronization starts
 */
async function sync<Row extends { readonly id: string }>(
  { newest, seen }: Position,
  timeOf: (row: Row) => string,
  list: (from: string, until: string | undefined, paging: Paging) => Promise<Page<Row>>,
  store: (rows: readonly Row[]) => Promise<void>,
): Promise<Position> {
  const beforeNewest = () => new Date(Math.max(0, Date.parse(newest) - margin)).toISOString();
  const nameOf = (row: Row) => `${row.id} ${timeOf(row)}`;
  const passedOn = new Set(seen);
  const read = new Map<string, string>();
  const readTime = async (from: string, until?: string) => {
    for await (const { data } of readPages(from, timeOf, (start, paging) => list(start, until, paging))) {
      const changed = data.filter((row) => !passedOn.has(nameOf(row)));
      if (changed.length > 0) await store(changed);
      for (const row of data) {
        passedOn.add(nameOf(row));
        read.set(nameOf(row), timeOf(row));
        if (timeOf(row) > newest) newest = timeOf(row);
      }
    }
  };
  const readAll = async (from: string, until?: string): Promise<void> => {
    try {
      await readTime(from, until);
    } catch (error) {
      const end = until === undefined ? Date.now() : Date.parse(until);
      const half = new Date((Date.parse(from) + end) / 2).toISOString();
      if (!hasTooMany(error) || half <= from) throw error;
      await readAll(from, half);
      await readAll(half, until);
    }
  };
  await readAll(beforeNewest());
  return { newest, seen: [...read].flatMap(([name, time]) => (time >= beforeNewest() ? name : [])) };
}

/** Passes on the leads that were created, imported or changed since the last synchronization, as they are now. */
export const syncLeads = (
  client: Client,
  since: Position,
  store: (leads: readonly Lead[]) => Promise<void>,
) =>
  sync<Lead>(
    since,
    ({ updatedAt }) => updatedAt,
    (updatedAfter, updatedBefore, paging) =>
      client.listLeads({
        sort: "updatedAt",
        updatedAfter,
        ...(updatedBefore && { updatedBefore }),
        ...paging,
      }),
    store,
  );

/** Passes on the conversations that had messages since the last synchronization, each with its newest message. */
export const syncConversations = (
  client: Client,
  since: Position,
  store: (conversations: readonly Conversation[]) => Promise<void>,
) =>
  sync<Conversation>(
    since,
    ({ lastMessageAt }) => lastMessageAt,
    (lastMessageAfter, lastMessageBefore, paging) =>
      client.listConversations({
        sort: "lastMessageAt",
        lastMessageAfter,
        ...(lastMessageBefore && { lastMessageBefore }),
        ...paging,
      }),
    store,
  );

/** The rows of a copy. */
export interface Rows<Row> {
  ids(): Promise<Iterable<string>>;
  /** Stores rows by their ids, except rows of a lead whose erasure the copy remembers. */
  put(rows: readonly Row[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
}

/** A copy of an account's leads and conversations in another system. */
export interface Copy {
  readonly leads: Rows<Lead>;
  readonly conversations: Rows<Conversation>;
  /** Deletes a lead and its conversations, and remembers the id for at least 15 days, as the ids of events. */
  erase(leadId: string): Promise<void>;
}

/** Keeps a copy up to date: by events, and from time to time by reading everything. Use one mirror of a copy at a time. */
export function createMirror(client: Client, copy: Copy) {
  let turn: Promise<unknown> = Promise.resolve();
  /** Runs one task at a time, each of which reads and then stores: an older read must not overwrite a newer one. */
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

  /** Reads all rows. A row that is not listed is looked up before it is removed, because it may be new or have moved. */
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

    /** Makes the copy equal to the data of the API, whatever events were missed. */
    async reconcile(): Promise<void> {
      await reconcile(copy.leads, client.leadPages(), client.findLeads);
      await reconcile(copy.conversations, client.conversationPages(), client.findConversations);
    },
  };
}

/** The ids in an event. */
interface Named {
  readonly id: string;
  readonly leadId?: string;
  readonly conversationId?: string;
}
