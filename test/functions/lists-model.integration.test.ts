import fc from "fast-check";
import { expect, test } from "vitest";
import { setLeadStatus } from "../../lib/ops/changes/lead-changes.ts";
import { type Lead, leadStatuses } from "../../shared/schemas/lead-schemas.ts";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";

/** Few sources and channels, so that filters match; some would be confused by a careless key or parser. */
const label = fc.constantFrom("instagram", "whatsapp", "a,b", "a#new", "a%23new", "new", "\u00e9\u{1F600}");
const account = fc.constantFrom("one", "two", "one#new");

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("create" as const), account, source: fc.option(label) }),
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
      page: fc.option(fc.integer({ min: 1, max: 5 })),
      limit: fc.option(fc.integer({ min: 1, max: 6 })),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

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

  async create({ account, source }: Extract<Step, { do: "create" }>) {
    const record = await aLead(this.prefix + account, source === null ? {} : { source });
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

  async list({ list, account, label, status, lead, page, limit }: Extract<Step, { do: "list" }>) {
    const leadId = lead === null ? undefined : this.leads[lead % this.leads.length]?.record.id;
    if (list === "list-leads" && status === "active") return;
    const filter: Record<string, string> = {
      ...(label !== null && { [list === "list-leads" ? "source" : "channel"]: label }),
      ...(status !== null && { status }),
      ...(list === "list-conversations" && leadId !== undefined && { leadId }),
    };
    const rows: { account: string; record: object }[] =
      list === "list-leads" ? this.leads : this.conversations;
    const matching = rows
      .filter((row) => row.account === account)
      .map(({ record }) => record)
      .filter((record) =>
        Object.entries(filter).every(([name, value]) => Reflect.get(record, name) === value),
      )
      .sort((a, b) => (String(Reflect.get(a, "id")) < String(Reflect.get(b, "id")) ? 1 : -1));
    const query = new URLSearchParams({
      ...filter,
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
          lead: null,
          page: null,
          limit: null,
        });
      }
    }),
    { numRuns: 60 },
  );
});
