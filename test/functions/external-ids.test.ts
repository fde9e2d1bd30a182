import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { beginErasure } from "../../lib/ops/erasure/erased-leads.ts";
import { setLeadFields } from "../../lib/ops/leads/leads-command.ts";
import { toEvents } from "../../shared/domain/events.ts";
import { Pace } from "../../shared/dynamodb/pace.ts";
import { table } from "../../shared/dynamodb/table-client.ts";
import { type Lead, lead as leadSchema, leadStatuses } from "../../shared/schemas/lead-schemas.ts";
import { call } from "../support/call.ts";
import { MemoryTable } from "../support/memory-table.ts";
import { runs } from "../support/part.ts";
import { streamRecord } from "../support/stream-record.ts";

/** Values of leads, few enough to meet again. */
const values = {
  externalId: fc.constantFrom("a", "A", "ü#/%2C~'"),
  name: fc.constantFrom("Ada", "Grace"),
  email: fc.constantFrom("ada@example.com", "b@example.com"),
  source: fc.constantFrom("web", "ü"),
  tags: fc.array(fc.constantFrom("x", "y"), { maxLength: 2 }),
};
const status = fc.constantFrom(...leadStatuses);
/** Some are too much only with what the lead has: eleven names, or two of the longest values. */
const metadata = <T>(other: fc.Arbitrary<T>) =>
  fc.oneof(
    fc.dictionary(fc.constantFrom("a", "b/c", "~d"), fc.oneof(fc.constant(""), other), { maxKeys: 2 }),
    fc.constantFrom("a", "b/c", "~d").map((name) => ({ [name]: "€".repeat(200) })),
    fc.constantFrom("abcdefg", "efghijk").map((names) => Object.fromEntries([...names].map((n) => [n, "x"]))),
  );
const create = fc.record({ ...values, metadata: metadata(fc.constant("1")) }, { requiredKeys: ["name"] });
const changed = {
  ...{ ...values, email: fc.option(values.email), source: fc.option(values.source) },
  ...{ status, score: fc.nat(1), metadata: metadata(fc.constant(null)) },
};
/** All or few fields: a change of one must not undo another's. */
const update = fc.oneof(
  fc.record(changed, { requiredKeys: ["externalId"] }),
  fc.record({ externalId: values.externalId, source: values.source }),
  fc.record({ externalId: values.externalId, status }),
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const key = maybe(fc.constantFrom(..."klmnopq"));
const request = fc.oneof(
  { weight: 1, arbitrary: fc.record({ body: create, query: fc.constant(""), key }) },
  { weight: 2, arbitrary: fc.record({ body: update, query: fc.constant("ifExists=update"), key }) },
);
const history = fc.record({
  requests: fc.array(request, { minLength: 9, maxLength: 12 }),
  steps: fc.array(
    fc.record({
      /** Start at the same moment: requests by their numbers, beyond them operators' changes of a lead. */
      actions: fc.array(fc.record({ n: fc.nat(13), at: fc.nat(), status }), { minLength: 1, maxLength: 3 }),
      /** How many turns the calls of the table wait. */
      turns: fc.array(fc.nat(3), { minLength: 9, maxLength: 9 }),
      filter: fc.record({
        externalId: maybe(fc.array(values.externalId, { minLength: 1, maxLength: 3 })),
        id: maybe(fc.array(fc.nat(), { minLength: 1, maxLength: 3 })),
        ...{ email: maybe(values.email), source: maybe(values.source), status: maybe(status) },
      }),
    }),
    { minLength: 15, maxLength: 30 },
  ),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/** What is done, and with which lead unless it is a request. */
type Action = History["requests"][number] | { readonly id: string; readonly status?: Lead["status"] };
/** A response, with what counts of a problem. */
type Answer = { readonly status?: number | undefined; readonly body: Fields; readonly replayed?: boolean };
type Fields = Readonly<Record<string, unknown>>;
/** An account: its leads, and the first responses to its requests with an Idempotency-Key. */
type State = { readonly leads: Lead[]; readonly first: Record<string, { request: string; answer: Answer }> };

const given = (all: Fields) => Object.fromEntries(Object.entries(all).filter(([, value]) => value != null));

/** Puts a lead in the place of another, or adds it. @returns the events */
function put(leads: Lead[], before: Lead | undefined, after: Lead): Fields[] {
  leads.splice(before ? leads.indexOf(before) : leads.length, 1, after);
  const { id, externalId, email, source, metadata, createdAt } = after;
  if (!before) return [given({ type: "lead.created", id, externalId, email, source, metadata, createdAt })];
  const names = Object.keys(leadSchema.properties) as (keyof Lead)[];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return changed.length > 0 ? [{ type: "lead.updated", leadId: id, changed, lead: after }] : [];
}

/** Does the same with an account, which gives a new lead the id and the time of the real one. @returns answer and events */
function act({ leads, first }: State, action: Action, real: Answer): readonly [Answer, Fields[]] {
  if ("id" in action) {
    const lead = leads.find(({ id }) => id === action.id);
    if (!lead) return [real, []];
    if (action.status) return [real, put(leads, lead, { ...lead, status: action.status })];
    leads.splice(leads.indexOf(lead), 1);
    return [real, [{ type: "lead.erased", leadId: lead.id }]];
  }
  const { body, query, key = "" } = action;
  const { externalId, metadata, ...fields }: Fields = body;
  const request = JSON.stringify([body, query]);
  const recorded = first[key];
  if (recorded?.request === request) return [{ ...recorded.answer, replayed: true }, []];
  if (recorded) return [{ status: 422, body: { code: "idempotency_key_reused" } }, []];
  const found = leads.find((lead) => externalId !== undefined && lead.externalId === externalId);
  if (found && !query) return [{ status: 409, body: { code: "lead_exists", id: found.id } }, []];
  const { id, createdAt } = real.body;
  const made = { id, externalId, score: 0, status: "new", tags: [], createdAt };
  const merged = given({ ...found?.metadata, ...Object(metadata) });
  const hasAny = Object.keys(merged).length > 0 || (found ? found.metadata : metadata);
  const lead = given({ ...(found ?? made), ...fields, metadata: hasAny ? merged : null }) as Lead;
  const json = JSON.stringify(lead.metadata ?? {});
  if (!lead.name || Object.keys(JSON.parse(json)).length > 10 || Buffer.byteLength(json) > 1024)
    return [{ status: 400, body: { code: "invalid_input" } }, []];
  const answer = { status: found ? 200 : 201, body: lead };
  if (key) first[key] = { request, answer };
  return [answer, put(leads, found, lead)];
}

async function send(account: string, action: Action): Promise<Answer> {
  if ("id" in action) {
    const { id, status } = action;
    if (status) await setLeadFields(account, id, { status });
    else if (id) await beginErasure(account, id, new Pace(1e9));
    return { body: {} };
  }
  const { key, ...input } = action;
  const request = { account, ...input, ...(key && { headers: { "idempotency-key": key } }) };
  const { status, body, problem, headers } = await call("create-lead", request);
  const { code, id } = problem as Partial<typeof problem & { id: string }>;
  const replayed = headers["idempotency-replayed"] && { replayed: true };
  return { status, body: code === undefined ? body : given({ code, id }), ...replayed };
}

const orders = <T>(all: readonly T[]): T[][] =>
  all.length < 2
    ? [[...all]]
    : all.flatMap((one, at) => orders(all.toSpliced(at, 1)).map((rest) => [one, ...rest]));

async function run({ requests, steps }: History): Promise<void> {
  let state: State = { leads: [], first: {} };
  // Environments remember which accounts were hot.
  const account = crypto.randomUUID();
  let changes: ReturnType<typeof streamRecord>[] = [];
  let waits: number[] = [];
  const memory = new MemoryTable({
    onChange: ({ before, after }) => void changes.push(streamRecord(before, after)),
  });
  const wait = async (command: object) => {
    for (let turns = waits.pop() ?? 0; turns > 0; turns--) await setImmediate();
    return memory.send(command);
  };
  vi.spyOn(table, "send").mockImplementation(wait as never);
  for (const { actions, turns, filter } of steps) {
    const before = state;
    const ids = before.leads.map(({ id }) => id);
    [changes, waits] = [[], [...turns]];
    const done = await Promise.all(
      actions.map(async ({ n, at, status }) => {
        const id = ids[at % ids.length] ?? "";
        const action: Action = requests[n] ?? (n % 2 === 0 ? { id, status } : { id });
        return { action, answer: await send(account, action) };
      }),
    );
    // Requests at the same moment have the results of some order. Refused ones have none, and one may be refused before
    // another with its key is recorded.
    const taken = done.filter(({ answer }) => !/400|429/.test(`${answer.status}`) || done.length === 1);
    const events = toEvents(changes).map(({ account: _, version: __, ...event }) => {
      const { id, createdAt, ...others } = event;
      return event.type === "lead.created" ? event : others;
    });
    const outcomes = orders(taken).map((order) => {
      const after = structuredClone(before);
      const acted = order.map(({ action, answer }) => act(after, action, answer));
      const expected = { answers: acted.map(([answer]) => answer), events: acted.flatMap(([, all]) => all) };
      return { after, expected, real: { answers: order.map(({ answer }) => answer), events } };
    });
    const outcome = outcomes.find(({ real, expected }) => isDeepStrictEqual(real, expected)) ?? outcomes[0];
    expect(outcome?.real).toEqual(outcome?.expected);
    if (outcome) state = outcome.after;
    const filters = given({ ...filter, id: filter.id?.map((at) => ids[at % ids.length] ?? "lead_1") });
    const wanted = Object.entries(filters).map(([name, value]) => [name, `${value}`] as [string, string]);
    const { body } = await call("list-leads", { account, query: `limit=100&${new URLSearchParams(wanted)}` });
    const listed = state.leads.filter((lead) =>
      wanted.every(([name, value]) => value.split(",").includes(`${lead[name as keyof Lead]}`)),
    );
    listed.sort((a, b) => (a.id < b.id ? 1 : -1));
    expect([body.data, body.pagination.total]).toEqual([listed, listed.length]);
    const named = state.leads.filter(({ externalId }) => externalId !== undefined);
    const items = [...memory.items()].filter(({ pk }) => String(pk).startsWith("EXTERNAL#"));
    expect(items.map(({ leadId }) => leadId).sort()).toEqual(named.map(({ id }) => id).sort());
  }
}

test("leads with external ids match a model in memory, also after requests at the same moment", async () => {
  // Retries do not wait.
  vi.spyOn(Math, "random").mockReturnValue(0);
  await fc.assert(fc.asyncProperty(history, run), { numRuns: runs(80, 4) });
});
