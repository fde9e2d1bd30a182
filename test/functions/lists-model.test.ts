import fc from "fast-check";
import { expect, test } from "vitest";
import { setConversationStatus } from "../../lib/ops/conversations/conversations-command.ts";
import { setLeadFields } from "../../lib/ops/leads/leads-command.ts";
import { createdAt } from "../../shared/ids.ts";
import { leadStatuses } from "../../shared/schemas/lead-schemas.ts";
import { call } from "../support/call.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import { runs } from "../support/part.ts";
import { aLead, aMessage } from "../support/requests.ts";

/** Few sources and channels, so that filters match; some would be confused by a careless key or parser. */
const label = fc.constantFrom("instagram", "a,y & b=ü>", "a,b", "a#new", "a%23new", "new", "\u00e9\u{1F600}");
/** Some differ only by letter case, and so are one address. */
const email = fc.constantFrom("ada@example.com", "Ada@Example.com", "a#new@example.com", "b@example.com");
const account = fc.constantFrom("one", "one", "one", "two", "one#new");
/** A value in some of four cases. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>, cases: 1 | 2 | 3 = 2) =>
  fc.oneof({ weight: cases, arbitrary }, { weight: 4 - cases, arbitrary: fc.constant<undefined>(undefined) });

const steps = {
  create: fc.record({ account, source: sometimes(label, 3), email: sometimes(email, 3) }),
  move: fc.record({ at: fc.nat(), status: fc.constantFrom(...leadStatuses) }),
  send: fc.record({ at: fc.nat(), channel: label }),
  end: fc.record({ at: fc.nat() }),
  list: fc.record({
    list: fc.constantFrom("list-leads" as const, "list-conversations" as const),
    account,
    label: sometimes(label, 1),
    status: sometimes(fc.constantFrom("new", "qualified", "booked", "active", "ended"), 1),
    lead: sometimes(fc.nat(), 1),
    email: sometimes(email, 1),
    ids: sometimes(fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), 1),
    after: sometimes(fc.nat(), 1),
    before: sometimes(fc.nat(), 1),
    /** The conversations whose last messages bound those of the others. */
    activeAfter: sometimes(fc.nat(), 1),
    activeBefore: sometimes(fc.nat(), 1),
    sort: sometimes(fc.constantFrom("-createdAt", "createdAt", "-lastMessageAt", "lastMessageAt"), 3),
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

/** What an account has, with the fields of its record. */
interface Row {
  readonly account: string;
  readonly record: Record<string, unknown> & { readonly id: string };
}

/** The service in memory: plain arrays. */
class Model {
  readonly leads: Row[] = [];
  readonly conversations: Row[] = [];

  async create({ account, source, email }: Steps["create"]) {
    const fields = { ...(source !== undefined && { source }), ...(email !== undefined && { email }) };
    this.leads.push({ account, record: { ...(await aLead(account, fields)) } });
  }

  async move({ at, status }: Steps["move"]) {
    const lead = this.leads[at % this.leads.length];
    if (!lead) return;
    lead.record.status = status;
    await setLeadFields(lead.account, lead.record.id, { status });
  }

  async send({ at, channel }: Steps["send"]) {
    const lead = this.leads[at % this.leads.length];
    if (!lead) return;
    const leadId = lead.record.id;
    const sent = await aMessage(lead.account, leadId, channel);
    const joined = this.conversations.find(
      ({ record }) => record.leadId === leadId && record.channel === channel && record.status === "active",
    );
    const messageCount = Number(joined?.record.messageCount ?? 0) + 1;
    const last = { lastMessageAt: sent.createdAt, messageCount };
    if (joined) {
      expect(sent.conversationId).toBe(joined.record.id);
      Object.assign(joined.record, last);
    } else {
      const record = { id: sent.conversationId, leadId, channel, status: "active", ...last };
      this.conversations.push({ account: lead.account, record });
    }
  }

  async end({ at }: Steps["end"]) {
    const conversation = this.conversations[at % this.conversations.length];
    if (!conversation) return;
    conversation.record.status = "ended";
    await setConversationStatus(conversation.account, conversation.record.id, "Ended");
  }

  async list(step: Steps["list"]) {
    const { list, account, label, status, lead, page, limit, isLoud } = step;
    const isLeads = list === "list-leads";
    const byActivity = !isLeads && step.sort?.endsWith("lastMessageAt");
    const sort = isLeads && step.sort?.endsWith("lastMessageAt") ? undefined : step.sort;
    const rows = isLeads ? this.leads : this.conversations;
    if (isLeads && status && !leadStatuses.some((one) => one === status)) return;
    const idOf = (n: number | undefined, rows: readonly Row[]) =>
      n === undefined ? undefined : rows[n % rows.length]?.record.id;
    const ids = rows.length > 0 ? step.ids?.map((n) => idOf(n, rows)) : undefined;
    const [after, before] = [step.after, step.before].map((n) => {
      const bound = idOf(n, rows);
      return bound && createdAt(bound);
    });
    const [activeAfter, activeBefore] = [step.activeAfter, step.activeBefore].map((n) =>
      isLeads || n === undefined ? undefined : rows[n % rows.length]?.record.lastMessageAt,
    );
    if (after && before && before < after) return;
    if (activeAfter && activeBefore && String(activeBefore) < String(activeAfter)) return;
    const email = isLeads ? step.email : undefined;
    const own = { status, [isLeads ? "source" : "channel"]: label };
    const equal: Record<string, unknown> = isLeads ? own : { ...own, leadId: idOf(lead, this.leads) };
    const keyOf = (record: Row["record"]) => `${byActivity ? record.lastMessageAt : ""} ${record.id}`;
    const names = Object.keys(equal).filter((name) => equal[name] !== undefined);
    const matching = rows
      .filter((row) => row.account === account)
      .map(({ record }) => record)
      .filter((record) => names.every((name) => record[name] === equal[name]))
      .filter(({ id }) => !ids || ids.includes(id))
      .filter((record) => !email || String(record.email).toLowerCase() === email.toLowerCase())
      // Timestamps of one form compare as texts.
      .filter(({ id }) => (after ?? "") <= createdAt(id) && createdAt(id) < (before ?? "~"))
      .filter(({ lastMessageAt }) => isLeads || String(activeAfter ?? "") <= String(lastMessageAt))
      .filter(({ lastMessageAt }) => isLeads || String(lastMessageAt) < String(activeBefore ?? "~"))
      .sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
    if (sort && !sort.startsWith("-")) matching.reverse();
    const [number, size] = [page ?? 1, limit ?? 20];
    const shown = byActivity ? Math.floor(2000 / size) : Number.POSITIVE_INFINITY;
    const windows = { createdAfter: after, createdBefore: before };
    const active = { lastMessageAfter: activeAfter, lastMessageBefore: activeBefore };
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
    expect(links).toEqual(
      expected.map(([rel, to]) => [
        rel,
        path,
        { ...Object.fromEntries(filters), page: String(to), limit: String(size) },
      ]),
    );
  }
}

const step = fc.oneof(
  ...(["create", "list", "send", "list", "create", "move", "end", "list"] as const).map((name) =>
    (steps[name] as fc.Arbitrary<never>).map((input: never) => (model: Model) => model[name](input)),
  ),
);

test("lists, filters, pages and their links match a model in memory", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      useMemoryTable();
      const model = new Model();
      for (const run of steps) await run(model);
    }),
    { numRuns: runs(60, 3) },
  );
});
