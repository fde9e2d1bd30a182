import type { components, operations, webhooks } from "./api.d.ts";

type Schemas = components["schemas"];
export type Lead = Schemas["Lead"];
export type NewLead = Pick<Lead, "name"> &
  Partial<Omit<Lead, "id" | "score" | "status" | "createdAt" | "updatedAt">>;
/**
 * An update finds its lead by the `id`, or else by the `externalId`, or else by one of the `addresses`. Null removes a
 * field, the addresses of a channel or an entry of the metadata. If the lead may not exist, the update needs a name.
 */
export type LeadUpdate = Schemas["NewLead"] &
  (
    | { readonly id: string }
    | { readonly externalId: string }
    | Required<Pick<Schemas["NewLead"], "addresses">>
  );
/** A conversation, with its `messages` if the query includes them. */
export type Conversation = Schemas["OpenedConversation"];
export type Message = Schemas["Message"];
export type NewMessage = Schemas["NewMessage"];
export type Template = Schemas["NewTemplate"];
/** A report of how far a message has got. */
export type MessageUpdate = Schemas["MessageUpdate"];
export type ConversationUpdate = Schemas["ConversationUpdate"];
export type LeadsQuery = NonNullable<operations["listLeads"]["parameters"]["query"]>;
export type ConversationsQuery = NonNullable<operations["listConversations"]["parameters"]["query"]>;

/** The `detail` of an event. A `type` that is newer than `api.d.ts` reaches the `default` of a `switch`: ignore it. */
export type ApiEvent =
  webhooks[keyof webhooks]["post"]["requestBody"]["content"]["application/json"]["detail"];

export interface ClientOptions {
  /** The base URL of the API, before `/api/v1`. */
  readonly url: string;
  /** An API key of the account. */
  readonly key: string;
  /** How long an attempt may take, in milliseconds. */
  readonly timeout?: number;
  /** How long a call may take with its retries, in milliseconds. */
  readonly within?: number;
  readonly fetch?: typeof globalThis.fetch;
  /** A clock in milliseconds, of which only differences are used. */
  readonly now?: () => number;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
  /** A number from 0 to below 1. */
  readonly random?: () => number;
}

export interface CallOptions {
  /** How long this call may take with its retries, in milliseconds. */
  readonly within?: number;
}

export interface PostOptions extends CallOptions {
  /** A new UUID by default. Derive the key from your own record, so that another run of your program repeats nothing. */
  readonly idempotencyKey?: string;
}

type List<Row, Query> = (query?: Query, options?: CallOptions) => Promise<Page<Row>>;

/** The filters of a list. */
type Filters<Query> = Omit<Query, "page" | "limit" | "sort">;

/** A page of a list. */
export interface Page<Row> {
  readonly data: readonly Row[];
  readonly pagination: Schemas["Pagination"];
}

interface Failure {
  readonly message: string;
  /** The status of the response; undefined without one. */
  readonly status?: number | undefined;
  /** The code of the problem, which may be newer than this client; `http_error` for another response, such as one of the gateway. */
  readonly code: string;
  /** The faults of an invalid request. */
  readonly errors?: readonly Schemas["Fault"][] | undefined;
  /** The id of the lead that already has the `externalId` or an address, or of the conversation that is already active. */
  readonly id?: string | undefined;
  /** The id of the request in the log of the service. */
  readonly requestId?: string | undefined;
  /** How many seconds to wait before a retry. */
  readonly retryAfter?: number | undefined;
  /** The key of a POST that has one. If the response was lost, the request may have taken effect: retry with this key. */
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
}

/** A call that failed. After retries, it describes the last response, and `cause` is the error of the last attempt. */
export class ApiError extends Error implements Failure {
  override readonly name = "ApiError";
  declare readonly status: Failure["status"];
  declare readonly code: Failure["code"];
  declare readonly errors: NonNullable<Failure["errors"]>;
  declare readonly id: Failure["id"];
  declare readonly requestId: Failure["requestId"];
  declare readonly retryAfter: Failure["retryAfter"];
  declare readonly idempotencyKey: Failure["idempotencyKey"];

  constructor({ message, cause, errors = [], ...failure }: Failure) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { ...failure, errors });
  }
}

const createdAt = (row: { readonly createdAt: string }) => row.createdAt;

/** The most rows of a page, and the most ids of a request. */
const limit = 100;

/** The most characters of the ids in a request, which may have at most 10,240 bytes with all its headers. */
const longestIds = 7000;

/** The longest delay before the first retry, and before any later retry, in milliseconds. */
const [firstDelay, longestDelay] = [1000, 30_000];

/** The statuses to retry; undefined is no response. A repeated POST has an idempotency key, or the same effect again. */
const retryable: readonly unknown[] = [undefined, 429, 500, 502, 503, 504];

export type Client = ReturnType<typeof createClient>;

/** A client of the API for one account. Its functions throw an `ApiError` when another attempt is useless or too late. */
export function createClient({ url, key, ...options }: ClientOptions) {
  const send = createSend(options);
  const addressOf = (path: string) => new URL(url.replace(/\/$/, "") + path);
  const authorization = `Bearer ${key}`;

  const get: Get = (path, query, { within } = {}) => {
    const address = addressOf(path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) address.searchParams.set(name, String(value));
    return send(address, { method: "GET", headers: new Headers({ authorization }) }, within);
  };

  const post = <Body>(path: string, body: object, { within }: CallOptions = {}, idempotencyKey?: string) => {
    const headers = new Headers({ authorization, "content-type": "application/json" });
    if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
    return send<Body>(addressOf(path), { method: "POST", headers, body: JSON.stringify(body) }, within);
  };

  const postOnce = <Body>(path: string, body: object, options: PostOptions = {}) =>
    post<Body>(path, body, options, options.idempotencyKey ?? crypto.randomUUID());

  const list =
    <Row, Query extends object>(path: string): List<Row, Query> =>
    async (query, options) =>
      (await get<Page<Row>>(path, query ?? {}, options)).body;
  const listLeads = list<Lead, LeadsQuery>("/api/v1/leads");
  const listConversations = list<Conversation, ConversationsQuery>("/api/v1/conversations");
  return {
    /** Reads one page of leads, by its number. */
    listLeads,

    /** Reads one page of conversations, by its number. */
    listConversations,

    /** The messages of a conversation, newest first. Each request reads 100, and is sent when they are needed. */
    messages: (conversationId: string, options?: CallOptions) =>
      readMessages(listConversations, conversationId, options),

    /** Creates a lead, once for each idempotency key, `externalId` and address. A 409 has the `id` of the existing lead. */
    createLead: async (lead: NewLead, options?: PostOptions) =>
      (await postOnce<Lead>("/api/v1/leads", lead, options)).body,

    /** Changes the passed fields of the lead that the update names, or creates the lead. */
    updateLead: async (update: LeadUpdate, options?: PostOptions) => {
      const { body: lead, status } = await postOnce<Lead>("/api/v1/leads?ifExists=update", update, options);
      return { lead, created: status === 201 };
    },

    /** Sends a message, or stores an inbound one, once for each idempotency key. */
    sendMessage: async (message: NewMessage, options?: PostOptions) =>
      (await postOnce<Message>("/api/v1/conversations", message, options)).body,

    /** Reports how far a message has got. It needs no idempotency key, because an earlier state is ignored. */
    updateMessage: async (update: MessageUpdate, options?: CallOptions) =>
      (await post<Message>("/api/v1/conversations?update=message", update, options)).body,

    /** Ends a conversation, or makes it active again. A 409 has the `id` of the conversation that is active instead. */
    updateConversation: async (update: ConversationUpdate, options?: PostOptions) =>
      (await postOnce<Conversation>("/api/v1/conversations?update=conversation", update, options)).body,

    /** All pages of leads, the oldest first, as `readPages` reads them. */
    leadPages: (query: Filters<LeadsQuery> = {}, options?: CallOptions) =>
      readPages<Lead>(query.createdAfter, createdAt, (createdAfter, paging) =>
        listLeads({ ...query, sort: "createdAt", createdAfter, ...paging }, options),
      ),

    /** All pages of conversations, the oldest first, as `readPages` reads them. */
    conversationPages: (query: Filters<ConversationsQuery> = {}, options?: CallOptions) =>
      readPages<Conversation>(query.createdAfter, createdAt, (createdAfter, paging) =>
        listConversations({ ...query, sort: "createdAt", createdAfter, ...paging }, options),
      ),

    /** Maps each passed id to its row, if the row exists. A request has 100 ids, or fewer if the ids are long. */
    findLeads: find("id", listLeads),
    findLeadsByExternalId: find("externalId", listLeads),
    findConversations: find("id", listConversations),
  };
}

interface Received<Body> {
  readonly body: Body;
  readonly status: number;
}

type Get = <Body>(path: string, query: object, options?: CallOptions) => Promise<Received<Body>>;

type Sending = RequestInit & { readonly method: string; readonly headers: Headers };

/** Sends a request until another attempt would be useless or too late. */
function createSend({
  timeout = 15_000,
  within: patience = 120_000,
  fetch = globalThis.fetch,
  now = () => performance.now(),
  wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random = Math.random,
}: Omit<ClientOptions, "url" | "key">) {
  async function attempt<Body>(address: URL, sending: Sending, rest: number) {
    const signal = AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(timeout, rest))));
    try {
      // A POST that follows a redirect becomes a GET.
      const response = await fetch(address, { ...sending, redirect: "manual", signal });
      const body = parseJson(await response.text());
      if (!response.ok || body === undefined) return readFailure(response, Object(body));
      return { body: body as Body, status: response.status };
    } catch (cause) {
      const message = `no response: ${cause}`;
      return { message, status: undefined, code: "no_response", cause } satisfies Failure;
    }
  }

  return async <Body>(address: URL, sending: Sending, within = patience): Promise<Received<Body>> => {
    const idempotencyKey = sending.headers.get("idempotency-key") ?? undefined;
    const end = now() + within;
    let refusal: ApiError | undefined;
    for (let attempts = 1; ; attempts++) {
      const result = await attempt<Body>(address, sending, end - now());
      if ("body" in result) return result;
      const message = `${sending.method} ${address.pathname}: ${result.message}`;
      const error = new ApiError({ ...result, message, idempotencyKey });
      if (!retryable.includes(error.status)) throw error;
      if (error.status !== undefined) refusal = error;
      // The jitter is added to Retry-After: otherwise callers that were refused together would return together.
      const jitter = random() * Math.min(longestDelay, firstDelay * 2 ** (attempts - 1));
      const delay = 1000 * (error.retryAfter ?? 0) + jitter;
      if (now() + delay >= end) {
        const last = refusal ?? error;
        const message = `Gave up after ${attempts} attempts: ${last.message}`;
        throw new ApiError({ ...last, message, cause: error });
      }
      await wait(delay);
    }
  };
}

/**
 * Reads all pages of rows from a time on, the oldest first. Each page starts at the time of the last row before it, so new
 * rows come at the end, and rows that are erased or move to the end hide no others. Rows that are stored meanwhile with an
 * earlier time are missed: those of an import, or a row that is some seconds late.
 *
 * If more than 100 rows have exactly the same time, which only imports and copies cause, they are read by page numbers.
 * Then one of them is missed for each one that is erased or moves meanwhile. In the order of a change, the API lists only
 * 2,000 of them.
 */
export async function* readPages<Row>(
  since = "1970-01-01T00:00:00Z",
  timeOf: (row: Row) => string,
  list: (from: string, paging: { page: number; limit: number }) => Promise<Page<Row>>,
): AsyncGenerator<Page<Row>, void> {
  let [from, page] = [since, 1];
  let last = new Set<string>();
  while (true) {
    const found = await list(from, { page, limit });
    yield { ...found, data: found.data.filter((row) => !last.has(JSON.stringify(row))) };
    if (page * limit >= found.pagination.total) return;
    last = new Set(found.data.map((row) => JSON.stringify(row)));
    const newest = found.data.at(-1);
    const next = newest === undefined ? from : timeOf(newest);
    if (Date.parse(next) > Date.parse(from)) [from, page] = [next, 1];
    else page++;
  }
}

async function* readMessages(
  list: List<Conversation, ConversationsQuery>,
  conversationId: string,
  options?: CallOptions,
): AsyncGenerator<Message, void> {
  const query: ConversationsQuery = { id: [conversationId], include: "messages", messageLimit: limit };
  for (let before = {}; ; ) {
    const [opened] = (await list({ ...query, ...before }, options)).data;
    const messages = opened?.messages ?? [];
    yield* messages;
    const oldest = messages[limit - 1];
    if (!oldest) return;
    before = { messagesBefore: oldest.id };
  }
}

const find =
  <Row, Query>(field: keyof Row & keyof Query, list: List<Row, Query>) =>
  async (ids: Iterable<string>, options?: CallOptions): Promise<Map<string, Row>> => {
    const wanted = [...new Set(ids)];
    const lengths = wanted.map((id) => `${new URLSearchParams([[",", id]])}`.length);
    const size = Math.min(limit, Math.floor(longestIds / lengths.reduce((a, b) => Math.max(a, b), 1)));
    const found = new Map<string, Row>();
    for (let from = 0; from < wanted.length; from += size) {
      const query = { [field]: wanted.slice(from, from + size), limit } as Query;
      for (const row of (await list(query, options)).data) found.set(String(row[field]), row);
    }
    return found;
  };

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ErrorBody extends Partial<Omit<Failure, "status" | "code">> {
  readonly code?: string;
  readonly detail?: string;
}

/** The failure that a response without success describes. */
function readFailure({ status, headers }: Response, body: ErrorBody): Failure {
  const { code = "http_error", errors, id, detail = body.message ?? "the response is not JSON" } = body;
  const requestId = body.requestId ?? headers.get("apigw-requestid") ?? undefined;
  const message = `${status} ${code}: ${detail} (request ${requestId})`;
  return { message, status, code, errors, id, requestId, retryAfter: readRetryAfter(headers) };
}

/** The seconds of `Retry-After`. A proxy may send a date instead, which is a time of the proxy's own clock. */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after") ?? "none";
  const seconds = Number(value);
  if (!Number.isNaN(seconds)) return seconds;
  const rest = Date.parse(value) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(rest) ? undefined : Math.max(0, rest / 1000);
}

/**
 * Reads what a target of the event bus receives: the whole event or its `detail`, as text or parsed. Returns undefined for
 * a later version of an event: ignore it, because the version that this client knows is sent also.
 *
 * @throws TypeError if it is no event
 */
export function parseEvent(received: unknown): ApiEvent | undefined {
  const parsed = typeof received === "string" ? parseJson(received) : received;
  const event = Object(parsed).detail ?? parsed;
  const { type, version, id, account, createdAt } = Object(event);
  if (![type, id, account, createdAt].every((value) => typeof value === "string"))
    throw new TypeError("This is not an event of the API.");
  return version === 1 ? event : undefined;
}
