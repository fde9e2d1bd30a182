/** What a generated client is used for: the four routes, with the types of a careful caller. */
export interface Client {
  createLead(body: { name: string; email?: string; source?: string; tags?: string[] }): Promise<Lead>;
  listLeads(query: { status?: "new" | "qualified" | "booked"; limit?: number }): Promise<List<Lead>>;
  sendMessage(body: { leadId: string; channel: string; message: string }): Promise<Message>;
  listConversations(query: { leadId?: string; limit?: number }): Promise<List<Conversation>>;
}

export interface Lead {
  id: string;
  name: string;
  email?: string | undefined;
  score: number;
  status: "new" | "qualified" | "booked";
  source?: string | undefined;
  tags: string[];
  createdAt: string;
}

export interface Conversation {
  id: string;
  leadId: string;
  channel: string;
  status: string;
  lastMessageAt: string;
  messageCount: number;
}

export interface Message {
  id: string;
  conversationId: string;
  leadId: string;
  channel: string;
  message: string;
  createdAt: string;
}

export interface List<Item> {
  data: Item[];
  pagination: { page: number; limit: number; total: number };
}

/** `never` for `any`, which is assignable to every other type. */
type Known<T> = 0 extends 1 & T ? never : unknown;

type KnownFields<T, Expected> = {
  [Field in keyof Expected]: Field extends keyof T ? Known<T[Field]> : never;
};

/**
 * Returns `{ value }`, of a type that a generated client has made. It does not compile if that type, or the type of a
 * field, is unknown, `any` or wrong.
 */
const typed =
  <Expected>() =>
  <T extends Expected>({ value }: { value: T } & { value: Known<T> & KnownFields<T, Expected> }): Expected =>
    value;

export const lead = typed<Lead>();
export const conversation = typed<Conversation>();
export const message = typed<Message>();
export const list = <Item, T>(
  { data, pagination }: { data: T[]; pagination: List<Item>["pagination"] },
  toItem: (item: T) => Item,
): List<Item> => ({ data: data.map(toItem), pagination });
