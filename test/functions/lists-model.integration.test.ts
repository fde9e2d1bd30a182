import fc from "fast-check";
import { expect, test } from "vitest";
import { setLeadStatus } from "../../lib/ops/leads/lead-changes.ts";
import { createdAt } from "../../shared/ids.ts";
import { type Lead, leadStatuses } from "../../shared/schemas/lead-schemas.ts";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";

/** Few sources and channels, so that filters match; some would be confused by a careless key or parser. */
const label = fc.constantFrom("instagram", "whatsapp", "a,b", "a#new", "a%23new", "new", "\u00e9\u{1F600}");
/** Some differ only by letter case, and so are one address. */
const email = fc.constantFrom("ada@example.com", "Ada@Example.com", "a#new@example.com", "b@example.com");
const account = fc.constantFrom("one", "two", "one#new");

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      account,
      source: fc.option(label),
      email: fc.option(email),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("move" as const),
      at: fc.nat(),
      status: fc.constantFrom(...leadStatuses),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("send" as const), at: fc.nat(), channel: label }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("list" as const),
      list: fc.constantFrom("list-leads" as const, "list-conversations" as const),
      account,
      label: fc.option(label),
      status: fc.option(fc.constantFrom("new", "qualified", "booked", "active")),
      lead: fc.option(fc.nat()),
      email: fc.option(email, { freq: 2 }),
      id: fc.option(fc.nat(), { freq: 2 }),
      after: fc.option(fc.nat(), { freq: 2 }),
      before: fc.option(fc.nat(), { freq: 2 }),
      page: fc.option(fc.integer({ min: 1, max: 5 })),
      limit: fc.option(fc.integer({ min: 1, max: 6 })),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const sameAddress = (a: unknown, b: string) => String(a).toLowerCase() === b.toLowerCase();

/** Whether a time is in a half-open interval. Timestamps of one form compare as texts. */
const isBetween = (time: string, after = "", before = "~") => after <= time && time < before;

/** The service in memory: plain arrays, newest first. */
class Model {
  readonly prefix: string;
  readonly leads: { account: string; record: Lead }[] = [];
  readonly conversations: { account: string; record: Record<string, unknown> }[] = [];

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  async run(step: Step): Promise<void> {
    if (step.do === "create") await this.create(step);
    else if (step.do === "list") await this.list(step);
    else {
      const lead = this.leads[step.at % this.leads.length];
      if (lead && step.do === "move") await this.move(lead, step.status);
      if (lead && step.do === "send") await this.send(lead, step.channel);
    }
  }

  async create({ account, source, email }: Extract<Step, { do: "create" }>) {
    const fields = { ...(source !== null && { source }), ...(email !== null && { email }) };
    const record = await aLead(this.prefix + account, fields);
    this.leads.unshift({ account, record });
  }

  async move({ account, record }: Model["leads"][number], status: Lead["status"]) {
    const owner = this.prefix + account;
    record.status = status;
    await setLeadStatus(owner, record.id, status, Date.now() + 10_000);
  }

  async send({ account, record: { id: leadId } }: Model["leads"][number], channel: string) {
    const sent = await aMessage(this.prefix + account, leadId, channel);
    const existing = this.conversations.find(
      ({ record }) => record.leadId === leadId && record.channel === channel,
    );
    const messageCount = Number(existing?.record.messageCount ?? 0) + 1;
    const last = { lastMessageAt: sent.createdAt, messageCount };
    if (existing) Object.assign(existing.record, last);
    else {
      const record = { id: sent.conversationId, leadId, channel, status: "active", ...last };
      this.conversations.unshift({ account, record });
    }
  }

  async list(step: Extract<Step, { do: "list" }>) {
    const { list, account, label, status, lead, page, limit } = step;
    const leadId = lead === null ? undefined : this.leads[lead % this.leads.length]?.record.id;
    if (list === "list-leads" && status === "active") return;
    const filter: Record<string, string> = {
      ...(label !== null && { [list === "list-leads" ? "source" : "channel"]: label }),
      ...(status !== null && { status }),
      ...(list === "list-conversations" && leadId !== undefined && { leadId }),
    };
    const rows: { account: string; record: object }[] =
      list === "list-leads" ? this.leads : this.conversations;
    const idOf = (n: number | null) => {
      const row = n === null ? undefined : rows[n % rows.length];
      return row && String(Reflect.get(row.record, "id"));
    };
    const [id, ...bounds] = [step.id, step.after, step.before].map(idOf);
    const [after, before] = bounds.map((id) => id && createdAt(id));
    if (after && before && before < after) return;
    const email = list === "list-leads" ? step.email : null;
    const matching = rows
      .filter((row) => row.account === account)
      .map(({ record }) => record)
      .filter((record) =>
        Object.entries(filter).every(([name, value]) => Reflect.get(record, name) === value),
      )
      .filter((record) => id === undefined || Reflect.get(record, "id") === id)
      .filter((record) => email === null || sameAddress(Reflect.get(record, "email"), email))
      .filter((record) => isBetween(createdAt(String(Reflect.get(record, "id"))), after, before))
      .sort((a, b) => (String(Reflect.get(a, "id")) < String(Reflect.get(b, "id")) ? 1 : -1));
    const query = new URLSearchParams({
      ...filter,
      ...(id !== undefined && { id }),
      ...(email !== null && { email }),
      ...(after !== undefined && { createdAfter: after }),
      ...(before !== undefined && { createdBefore: before }),
      ...(page !== null && { page: String(page) }),
      ...(limit !== null && { limit: String(limit) }),
    });
    const { body } = await call(list, { account: this.prefix + account, query: query.toString() });
    const [at, size] = [page ?? 1, limit ?? 20];
    expect(body).toEqual({
      data: matching.slice((at - 1) * size, at * size),
      pagination: { page: at, limit: size, total: matching.length },
    });
  }
}

test("lists, filters and pages match a model in memory", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const model = new Model(`${run++}-`);
      for (const step of steps) await model.run(step);
      for (const list of ["list-leads", "list-conversations"] as const) {
        await model.list({
          do: "list",
          list,
          account: "one",
          label: null,
          status: null,
          ...{ lead: null, email: null, id: null, after: null, before: null },
          page: null,
          limit: null,
        });
      }
    }),
    { numRuns: 60 },
  );
});
