import type { DynamoDBRecord } from "aws-lambda";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { createdAt } from "../../../shared/ids.ts";
import { countedChanges } from "../../../shared/pages/maintain/changes.ts";
import { maintainLists, type Unsettled } from "../../../shared/pages/maintain/maintain-lists.ts";
import { leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { runs } from "../../support/cases/part.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage, setStatus } from "../../support/requests/requests.ts";
import { smallLimits } from "../../support/requests/small-limits.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

/** Few sources and channels, so that filters match; a careless key or parser would confuse some of them. */
const label = fc.constantFrom("instagram", "a,y & b=ü>", "a,b", "a#new", "a%23new", "new", "\u00e9\u{1F600}");
/** Some differ only by letter case, and are the same address. */
const email = fc.constantFrom("ada@example.com", "Ada@Example.com", "a#new@example.com", "b@example.com");
const account = fc.constantFrom("one", "one", "one", "two", "one#new");
/** A value in some of eight cases. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>, cases: 1 | 2 | 4 | 6 = 4) =>
  fc.oneof({ weight: cases, arbitrary }, { weight: 8 - cases, arbitrary: fc.constant<undefined>(undefined) });

const steps = {
  create: fc.record({ account, source: sometimes(label, 6), email: sometimes(email, 6) }),
  move: fc.record({ at: fc.nat(), status: fc.constantFrom(...leadStatuses) }),
  send: fc.record({
    at: fc.nat(),
    channel: fc.oneof(label, fc.constant("new")),
    direction: sometimes(fc.constantFrom("inbound", "inbound", "outbound"), 6),
    // A text, and how many characters of it are shown: at most 100, with at most 256 bytes.
    text: fc.constantFrom(
      ["Hello", 5],
      ["é".repeat(101), 100],
      ["漢".repeat(101), 85],
      ["👋".repeat(99), 64],
    ),
  }),
  count: fc.record({}),
  end: fc.record({ at: fc.nat(), status: fc.constantFrom("Ended", "Ended", "Active") }),
  list: fc.record({
    list: fc.constantFrom("list-leads" as const, ...Array(2).fill("list-conversations" as const)),
    account,
    label: sometimes(label, 1),
    status: sometimes(fc.constantFrom("new", "qualified", "booked", "active", "ended"), 1),
    lead: sometimes(fc.nat(), 1),
    email: sometimes(email, 1),
    ids: sometimes(fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), 1),
    after: sometimes(fc.nat(), 1),
    before: sometimes(fc.nat(), 1),
    isAwaiting: sometimes(fc.constant(true), 2),
    /** The rows whose last change, last message or beginning of waiting bounds the times of the listed rows. */
    activeAfter: sometimes(fc.nat(), 2),
    activeBefore: sometimes(fc.nat(), 2),
    sort: sometimes(fc.constantFrom("-createdAt", "createdAt", "-lastMessageAt", "lastMessageAt"), 6),
    page: sometimes(
      fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 1, max: 5 }) },
        { weight: 1, arbitrary: fc.constantFrom(99, 100, 101) },
      ),
    ),
    limit: sometimes(fc.constantFrom(1, 2, 3, 4, 5, 6, 20, 21)),
    /** Whether sources and channels are in upper case: it makes no difference. */
    isLoud: fc.boolean(),
  }),
};
type Steps = { [Name in keyof typeof steps]: (typeof steps)[Name] extends fc.Arbitrary<infer T> ? T : never };

/** A lead or a conversation of an account, with the fields of its record. */
interface Row {
  readonly account: string;
  readonly record: Record<string, unknown> & { readonly id: string };
}

/** The service in memory: plain arrays. */
class Model {
  readonly leads: Row[] = [];
  readonly conversations: Row[] = [];
  readonly #stream: DynamoDBRecord[] = [];
  readonly #unsettled: Unsettled = new Map();

  constructor() {
    new WatchedTable(this.#stream);
  }

  /** Delivers the stream, so that its rows are counted. */
  async count() {
    const wait = async (milliseconds: number) => void vi.setSystemTime(Date.now() + Math.ceil(milliseconds));
    const context = { deadline: Date.now() + 60_000, limits: smallLimits, wait, unsettled: this.#unsettled };
    expect(await maintainLists(countedChanges(this.#stream.splice(0)), context)).toEqual([]);
  }

  async create({ account, source, email }: Steps["create"]) {
    const fields = { ...(source !== undefined && { source }), ...(email !== undefined && { email }) };
    this.leads.push({ account, record: { ...(await aLead(account, fields)) } });
  }

  async move({ at, status }: Steps["move"]) {
    const lead = this.leads[at % this.leads.length];
    if (!lead) return;
    const { account, record } = lead;
    const update = { account, query: "ifExists=update", body: { id: record.id, status } };
    const { body } = await call("create-lead", update);
    const isChanged = record.status !== status;
    expect(body).toEqual({ ...record, status, updatedAt: isChanged ? expect.any(String) : record.updatedAt });
    if (isChanged) expect(String(body.updatedAt) > String(record.updatedAt)).toBe(true);
    Object.assign(record, { status, updatedAt: body.updatedAt });
    await this.count();
  }

  async send({ at, channel, direction, text: [message, shown] }: Steps["send"]) {
    const lead = this.leads[at % this.leads.length];
    if (!lead) return;
    const { account, record } = lead;
    const leadId = record.id;
    const sent = await aMessage(account, leadId, channel, { message, direction });
    let joined = this.#active(leadId, channel);
    if (joined) expect(sent.conversationId).toBe(joined.id);
    else {
      const { conversationId: id, createdAt } = sent;
      joined = { id, leadId, channel, status: "active", createdAt, messageCount: 0 };
      this.conversations.push({ account, record: joined });
    }
    joined.lastMessageAt = sent.createdAt;
    joined.messageCount = Number(joined.messageCount) + 1;
    joined.lastMessage = { direction: direction ?? "outbound", text: [...message].slice(0, shown).join("") };
    if (direction === "inbound") {
      joined.lastInboundAt = sent.createdAt;
      joined.awaitingReplySince ??= sent.createdAt;
    } else delete joined.awaitingReplySince;
  }

  #active = (leadId: unknown, channel: unknown): Row["record"] | undefined =>
    this.conversations.find(
      ({ record }) => record.leadId === leadId && record.channel === channel && record.status === "active",
    )?.record;

  async end({ at, status }: Steps["end"]) {
    const conversation = this.conversations[at % this.conversations.length];
    if (!conversation) return;
    const { account, record } = conversation;
    const other = status === "Active" ? this.#active(record.leadId, record.channel) : undefined;
    const isRefused = other !== undefined && other !== record;
    const response = await setStatus(account, record.id, status);
    expect(response.status).toBe(isRefused ? 409 : 200);
    if (isRefused) return;
    if (status.toLowerCase() !== record.status) delete record.awaitingReplySince;
    record.status = status.toLowerCase();
    expect(response.body).toEqual(record);
    await this.count();
  }

  async list(step: Steps["list"]) {
    const { list, account, label, status, lead, page, limit, isLoud } = step;
    const isLeads = list === "list-leads";
    const isAwaiting = !isLeads && step.isAwaiting === true;
    const kind = isAwaiting ? "awaitingReply" : isLeads ? "updated" : "lastMessage";
    const sort = isAwaiting ? undefined : step.sort?.replace("lastMessage", kind);
    const byChange = sort?.endsWith(`${kind}At`);
    const rows = isLeads ? this.leads : this.conversations;
    if (isLeads && status && !leadStatuses.some((one) => one === status)) return;
    const idOf = (n: number | undefined, rows: readonly Row[]) =>
      n === undefined ? undefined : rows[n % rows.length]?.record.id;
    const ids = rows.length > 0 ? step.ids?.map((n) => idOf(n, rows)) : undefined;
    const [after, before] = [step.after, step.before].map((n) => {
      const bound = idOf(n, rows);
      return bound && createdAt(bound);
    });
    const time = isAwaiting ? "awaitingReplySince" : `${kind}At`;
    const [activeAfter, activeBefore] = [step.activeAfter, step.activeBefore].map((n) =>
      n === undefined ? undefined : rows[n % rows.length]?.record[time],
    );
    if (after && before && before < after) return;
    if (activeAfter && activeBefore && String(activeBefore) < String(activeAfter)) return;
    const email = isLeads ? step.email : undefined;
    const own = { status, [isLeads ? "source" : "channel"]: label };
    const equal: Record<string, unknown> = isLeads ? own : { ...own, leadId: idOf(lead, this.leads) };
    const keyOf = (record: Row["record"]) => `${isAwaiting || byChange ? record[time] : ""} ${record.id}`;
    const isBetween = (time: unknown, after: unknown, before: unknown) =>
      String(after ?? "") <= String(time) && String(time) < String(before ?? "~");
    const names = Object.keys(equal).filter((name) => equal[name] !== undefined);
    const matching = rows
      .filter((row) => row.account === account)
      .map(({ record }) => record)
      .filter((record) => names.every((name) => record[name] === equal[name]))
      .filter(({ id }) => !ids || ids.includes(id))
      .filter((record) => !email || String(record.email).toLowerCase() === email.toLowerCase())
      // Timestamps of one form compare as texts.
      .filter(({ id }) => isBetween(createdAt(id), after, before))
      .filter((record) => !isAwaiting || record[time] !== undefined)
      .filter((record) => isBetween(record[time], activeAfter, activeBefore))
      .sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
    if (isAwaiting || (sort && !sort.startsWith("-"))) matching.reverse();
    const [number, size] = [page ?? 1, limit ?? 20];
    const shown = byChange ? Math.floor(2000 / size) : Number.POSITIVE_INFINITY;
    const windows = { createdAfter: after, createdBefore: before };
    const active = { [`${kind}After`]: activeAfter, [`${kind}Before`]: activeBefore };
    if (isAwaiting) equal.awaitingReply = true;
    const filters = Object.entries({ ...equal, id: ids, email, ...windows, ...active, sort })
      .filter(([, value]) => value !== undefined)
      .map(([name = "", value]): [string, string] => [
        name,
        isLoud && /source|channel/.test(name) ? String(value).toUpperCase() : String(value),
      ]);
    const query = new URLSearchParams(filters);
    if (page !== undefined) query.set("page", String(page));
    if (limit !== undefined) query.set("limit", String(limit));
    const { status: code, body, headers } = await call(list, { account, query: query.toString() });
    if (number > shown) return expect(code).toBe(400);
    expect(body).toEqual({
      data: matching.slice((number - 1) * size, number * size),
      pagination: { page: number, limit: size, total: matching.length },
    });
    const last = Math.max(1, Math.ceil(matching.length / size));
    const linked = { first: 1, prev: Math.min(number - 1, last), next: number + 1, last };
    const expected = Object.entries(linked).filter(([rel, to]) =>
      rel === "prev" ? number > 1 : to <= shown && (rel !== "next" || to <= last),
    );
    const links = [...String(headers.link).matchAll(/<([^>]*)>; rel="([a-z]+)"/g)].map(
      ([, target = "", rel]) => {
        const { pathname, searchParams } = new URL(target, "http://x");
        return [rel, pathname, Object.fromEntries(searchParams)];
      },
    );
    const path = isLeads ? "/api/v1/leads" : "/api/v1/conversations";
    const lastTime = body.data.at(-1)?.[time];
    // With the oldest changes first, the next page begins at the time of the last row, unless all rows have this time.
    const goesOn = byChange && !sort?.startsWith("-") && lastTime !== activeAfter;
    expect(links).toEqual(
      expected.map(([rel, to]) => {
        const part = rel === "next" && goesOn ? { [`${kind}After`]: lastTime, page: "1" } : { page: `${to}` };
        return [rel, path, { ...Object.fromEntries(filters), ...part, limit: String(size) }];
      }),
    );
  }
}

const names = ["create", "move", "send", "send", "count", "end", "list", "list"] as const;
const step = fc.oneof(
  ...names.map((name) =>
    (steps[name] as fc.Arbitrary<never>).map((input: never) => (model: Model) => model[name](input)),
  ),
);

test("lists, filters, pages and their links match a model in memory", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 70 }), async (steps) => {
      vi.useFakeTimers({ toFake: ["Date"] });
      const model = new Model();
      for (const [n, run] of steps.entries()) {
        // Some steps happen at the same time.
        vi.setSystemTime(Date.now() + (n % 3));
        await run(model);
      }
    }),
    { numRuns: runs(60, 3) },
  );
});
