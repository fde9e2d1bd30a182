import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { beginErasure } from "../../../lib/ops/erasure/erased-leads.ts";
import { toEvents } from "../../../shared/domain/events.ts";
import { Pace } from "../../../shared/dynamodb/pace.ts";
import { type Item, table } from "../../../shared/dynamodb/table-client.ts";
import { type Lead, lead as leadSchema, leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { runs } from "../../support/cases/part.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { MemoryTable } from "../../support/memory-table/memory-table.ts";
import { call } from "../../support/requests/call.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const few = <T>(value: fc.Arbitrary<T>) => maybe(fc.array(value, { minLength: 1, maxLength: 3 }));
/** Some are one address in several spellings. */
const address = fc.constantFrom("+49 1", "(49) 1", "A@x", "a@X", "a%2C#");
const channel = fc.constantFrom("sms", "SMS", "constructor");
const addresses = <T>(other: fc.Arbitrary<T>) => {
  const ofChannel = fc.oneof(
    { weight: 2, arbitrary: fc.array(address, { minLength: 1, maxLength: 2 }) },
    other,
  );
  const channels = fc.uniqueArray(fc.tuple(channel, ofChannel), {
    maxLength: 2,
    selector: ([name]) => name.toLowerCase(),
  });
  return fc.oneof(
    { weight: 8, arbitrary: channels.map((all) => Object.fromEntries(all)) },
    // Too many together with the addresses that the lead has.
    { weight: 1, arbitrary: fc.constant({ ü: [..."123456789"] }) },
  );
};
/** Values of leads, so few that leads share them. */
const values = {
  externalId: fc.constantFrom("a", "A", "ü#/%~'"),
  name: fc.constantFrom("Ada", "Grace"),
  email: fc.constantFrom("ada@example.com", "b@example.com"),
  source: fc.constantFrom("web", "ü"),
  tags: fc.array(fc.constantFrom("x", "y"), { maxLength: 2 }),
};
const status = fc.constantFrom(...leadStatuses);
/** Some are too much only together with the stored metadata: eleven names, or two of the longest values. */
const metadata = <T>(other: fc.Arbitrary<T>) =>
  fc.oneof(
    fc.dictionary(fc.constantFrom("a", "b/c", "~d"), fc.oneof(fc.constant(""), other), { maxKeys: 2 }),
    fc.constantFrom("a", "b/c", "~d").map((name) => ({ [name]: "€".repeat(200) })),
    fc.constantFrom("abcdefg", "efghijk").map((names) => Object.fromEntries([...names].map((n) => [n, "x"]))),
  );
const one = fc.constant("1");
const create = fc.record(
  { ...values, metadata: metadata(one), addresses: addresses(fc.array(address, { maxLength: 2 })) },
  { requiredKeys: ["name"] },
);
/** Some of these, at least one. */
const some = (all: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc
    .tuple(fc.record(all), fc.shuffledSubarray(Object.keys(all), { minLength: 1 }))
    .map(([values, names]) => Object.fromEntries(names.map((name) => [name, values[name]])));
const { externalId, ...others } = values;
/** What names the lead of an update. Its id is a number, counted from the newest lead that ever existed. */
const named = some({ id: fc.nat(9), externalId, addresses: addresses(fc.constant(null)) });
/** The changes of an update. A change of one field must not undo a change of another field. */
const changed = some({
  ...{ ...others, email: fc.option(values.email), source: fc.option(values.source) },
  ...{ status, score: fc.nat(1), metadata: metadata(fc.constant(null)) },
});
const update = fc.tuple(named, changed).map(([names, fields]) => ({ ...names, ...fields }));
const key = maybe(fc.constantFrom(..."klmnopq"));
const request = fc.oneof(
  { weight: 1, arbitrary: fc.record({ body: create, query: fc.constant(""), key }) },
  { weight: 2, arbitrary: fc.record({ body: update, query: fc.constant("ifExists=update"), key }) },
);
const history = fc.record({
  requests: fc.array(request, { minLength: 16, maxLength: 16 }),
  steps: fc.array(
    fc.record({
      /** Actions that start at the same moment: the request with a number, or the erasure of a lead if there is none. */
      actions: fc.array(fc.record({ n: fc.nat(16), at: fc.nat() }), { minLength: 1, maxLength: 3 }),
      /** How many turns the calls of the table wait. */
      turns: fc.array(fc.nat(3), { minLength: 12, maxLength: 12 }),
      /** The call whose response is lost. */
      lost: maybe(fc.nat(12)),
      filter: fc.record({
        externalId: few(values.externalId),
        address: few(fc.tuple(channel, address).map((pair) => pair.join(":"))),
        id: few(fc.nat()),
        ...{ email: maybe(values.email), source: maybe(values.source), status: maybe(status) },
        sort: maybe(fc.constantFrom("updatedAt", "-updatedAt")),
      }),
    }),
    { minLength: 15, maxLength: 30 },
  ),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;
type Fields = Readonly<Record<string, unknown>>;

/** A request, or the erasure of a lead. */
type Action =
  | { readonly body: Fields; readonly query: string; readonly key?: string | undefined }
  | { readonly id: string };
/** A response. Of a problem, it has only the fields that are compared. */
interface Answer {
  readonly status?: number | undefined;
  readonly body: Fields;
  readonly replayed?: true;
}
/** An account: its leads, and the first responses to its requests with an Idempotency-Key. */
interface State {
  readonly leads: Lead[];
  readonly first: Record<string, { request: string; answer: Answer }>;
}

const given = (all: Fields) => Object.fromEntries(Object.entries(all).filter(([, value]) => value != null));

/** An address as it is compared, with its channel. */
const compared = (channel: string, address: string) =>
  `${channel.toLowerCase()}:${/^[\d ()+]+$/.test(address) ? address.replace(/\D/g, "") : address.includes("@") ? address.toLowerCase() : address}`;

/** The external id and the addresses of a lead or a request, in the order in which they are sent. */
const namesOf = ({ externalId, addresses }: Pick<Fields, string>) => [
  ...(externalId === undefined ? [] : [`external ${externalId}`]),
  ...Object.entries(Object(addresses) as Record<string, string[] | null>).flatMap(([channel, list]) =>
    (list ?? []).map((address) => compared(channel, address)),
  ),
];

/** The addresses of a lead after a change. */
function merge(stored: Lead["addresses"], changes: unknown): Lead["addresses"] {
  const merged = new Map(Object.entries(stored ?? {}));
  for (const [name, list] of Object.entries(Object(changes) as Record<string, string[] | null>)) {
    const channel = name.toLowerCase();
    const all = list === null ? [] : [...(merged.get(channel) ?? [])];
    for (const address of list ?? [])
      if (all.every((other) => compared("", other) !== compared("", address))) all.push(address);
    merged.set(channel, all);
  }
  for (const [channel, list] of merged) if (list.length === 0) merged.delete(channel);
  return merged.size > 0 ? Object.fromEntries(merged) : undefined;
}

/** Puts a lead in the place of another, or adds it. @returns the events */
function put(leads: Lead[], before: Lead | undefined, after: Lead): Fields[] {
  leads.splice(before ? leads.indexOf(before) : leads.length, 1, after);
  const { name: _, score: __, status: ___, tags: ____, updatedAt: _____, ...created } = after;
  if (!before) return [{ type: "lead.created", ...created }];
  const names = Object.keys(leadSchema.properties) as (keyof Lead)[];
  const changed = names.filter(
    (name) => name !== "updatedAt" && !isDeepStrictEqual(before[name], after[name]),
  );
  return changed.length > 0 ? [{ type: "lead.updated", leadId: after.id, changed, lead: after }] : [];
}

const refusal = (status: number, code: string, id?: string) =>
  [{ status, body: given({ code, id }) }, [] as Fields[]] as const;

/** Does the same in the model, which takes the id and the times of the real lead. @returns the answer and the events */
function act({ leads, first }: State, action: Action, real: Answer): readonly [Answer, Fields[]] {
  if ("id" in action) {
    const at = leads.findIndex(({ id }) => id === action.id);
    if (at < 0) return [real, []];
    leads.splice(at, 1);
    return [real, [{ type: "lead.erased", leadId: action.id }]];
  }
  const { body, query, key = "" } = action;
  const { id: asked, externalId, metadata, addresses, ...fields }: Fields = body;
  const names = namesOf(body);
  const channels = Object.keys(Object(addresses)).map((name) => name.toLowerCase());
  if (new Set(channels).size < channels.length || (query && !asked && names.length === 0))
    return refusal(400, "invalid_input");
  const request = JSON.stringify([body, query]);
  const recorded = first[key];
  if (recorded && recorded.request !== request) return refusal(422, "idempotency_key_reused");
  if (recorded)
    return leads.some(({ id }) => id === recorded.answer.body.id)
      ? [{ ...recorded.answer, replayed: true }, []]
      : refusal(404, "lead_not_found");
  const owners = names.flatMap((name) => leads.find((lead) => namesOf({ ...lead }).includes(name)) ?? []);
  const found = query ? (asked ? leads.find(({ id }) => id === asked) : owners[0]) : undefined;
  if (asked && !found) return refusal(404, "lead_not_found");
  const isOther =
    externalId !== undefined && found?.externalId !== undefined && found.externalId !== externalId;
  const taken = [...owners.filter((lead) => lead !== found), ...(isOther ? [found] : [])].map(({ id }) => id);
  if (taken.length > 0)
    return refusal(409, "lead_exists", taken.find((id) => id === real.body.id) ?? taken[0]);
  const { id, createdAt, updatedAt } = real.body;
  const made = { id, score: 0, status: "new", tags: [], createdAt, updatedAt: createdAt };
  const merged = given({ ...found?.metadata, ...Object(metadata) });
  // An update that removes the last entry removes the metadata.
  const before = found ? found.metadata : metadata === undefined ? undefined : {};
  const wasEmpty = before !== undefined && Object.keys(before).length === 0;
  const hasAny = Object.keys(merged).length > 0 || wasEmpty;
  const lead = given({
    ...{ ...(found ?? made), ...fields, externalId: externalId ?? found?.externalId },
    ...{ addresses: merge(found?.addresses, addresses), metadata: hasAny ? merged : null },
  }) as Lead;
  const json = JSON.stringify(lead.metadata ?? {});
  const isTooMuch = Object.keys(lead.metadata ?? {}).length > 10 || Buffer.byteLength(json) > 1024;
  if (!lead.name || isTooMuch || Object.values(lead.addresses ?? {}).flat().length > 10)
    return refusal(400, "invalid_input");
  const events = put(leads, found, lead);
  if (found && events.length > 0) Object.assign(lead, { updatedAt });
  const answer = { status: found ? 200 : 201, body: lead };
  if (key) first[key] = { request, answer };
  return [answer, events];
}

async function send(account: string, action: Action): Promise<Answer> {
  if ("id" in action) {
    if (action.id) await beginErasure(account, action.id, new Pace(1e9));
    return { body: {} };
  }
  const { key, ...input } = action;
  const request = { account, ...input, ...(key && { headers: { "idempotency-key": key } }) };
  const { status, body, problem, headers } = await call("create-lead", request);
  const { code, id } = problem as Partial<typeof problem & { id: string }>;
  const replayed = headers["idempotency-replayed"] && { replayed: true as const };
  return { status, body: code === undefined ? { ...body } : given({ code, id }), ...replayed };
}

/** What was sent, with its answer. If the answer was lost, the action may have had no effect. */
interface Done {
  readonly action: Action;
  readonly answer: Answer | undefined;
  /** The attempt that this one repeats. */
  readonly before: Done | undefined;
}

/**
 * Finds an order of actions at the same moment that explains their answers, the events and the recorded keys. Returns the
 * state after them, or undefined if there is no such order.
 */
function explain(
  state: State,
  done: readonly Done[],
  events: readonly Fields[],
  keys: readonly string[],
): State | undefined {
  const isSame = events.length === 0 && isDeepStrictEqual(Object.keys(state.first).sort(), keys);
  if (done.length === 0) return isSame ? state : undefined;
  for (const next of done) {
    if (next.before && done.includes(next.before)) continue;
    const others = done.filter((one) => one !== next);
    const without = next.answer ? undefined : explain(state, others, events, keys);
    if (without) return without;
    const after = structuredClone(state);
    const [event = {}] = events;
    const answer = next.answer ?? { body: Object(event.lead ?? event) };
    const [expected, made] = act(after, next.action, answer);
    const isNext = isDeepStrictEqual(made, events.slice(0, made.length));
    if (!isNext || (next.answer && !isDeepStrictEqual(expected, answer))) continue;
    const found = explain(after, others, events.slice(made.length), keys);
    if (found) return found;
  }
  return undefined;
}

/** Checks a list of an account's leads, and the items of all their names. */
async function check(account: string, { leads }: State, filters: Fields, items: Iterable<Item>) {
  const { sort, ...wanted } = given(filters) as Readonly<Record<string, string[] | string>>;
  const query = new URLSearchParams(
    Object.entries(given(filters)).map(([name, value]): [string, string] => [name, `${value}`]),
  );
  const { body } = await call("list-leads", { account, query: `limit=100&${query}` });
  const listed = leads.filter((lead) =>
    Object.entries(wanted).every(([name, value]) =>
      name === "address"
        ? [value]
            .flat()
            .some((pair) => namesOf(lead).includes(compared(...(pair.split(":") as [string, string]))))
        : value.includes(`${lead[name as keyof Lead]}`),
    ),
  );
  const toKey = ({ id, updatedAt }: Lead) => `${sort ? updatedAt : ""} ${id}`;
  listed.sort((a, b) => (toKey(a) < toKey(b) === (sort === "updatedAt") ? -1 : 1));
  expect([body.data, body.pagination.total]).toEqual([listed, listed.length]);
  const named = leads.flatMap((lead) => namesOf(lead).map((name) => [name, lead.id]));
  const stored = [...items].flatMap(({ pk, sk, leadId }) =>
    /^EXTERNAL#/.test(`${pk}`)
      ? [[`external ${sk}`, leadId]]
      : /^ADDRESS#/.test(`${pk}`)
        ? [[sk, leadId]]
        : [],
  );
  expect(stored.sort()).toEqual(named.sort());
}

async function run({ requests, steps }: History): Promise<void> {
  let state: State = { leads: [], first: {} };
  // Environments remember which accounts were hot.
  const account = crypto.randomUUID();
  let changes: ReturnType<typeof streamRecord>[] = [];
  let waits: number[] = [];
  let lost = -1;
  const memory = new MemoryTable({
    onChange: ({ before, after }) => void changes.push(streamRecord(before, after)),
  });
  const wait = async (command: object) => {
    for (let turns = waits.pop() ?? 0; turns > 0; turns--) await setImmediate();
    const response = memory.execute(command).output;
    if (lost-- === 0) throw Object.assign(new Error("no response"), { name: "TimeoutError" });
    return response;
  };
  vi.spyOn(table, "send").mockImplementation(wait as never);
  /** The ids that leads have had, the newest last, and the requests with a key. */
  const known = ["lead_1"];
  const sent: Action[] = [];
  const toAction = (n: number, at: number): Action => {
    const request = requests[n];
    if (!request) return { id: state.leads[at % state.leads.length]?.id ?? "" };
    const { id, ...fields }: Fields = request.body;
    const body = id === undefined ? fields : { id: known.at(-1 - (Number(id) % known.length)), ...fields };
    // A request with a key is repeated as it was first sent.
    if (request.key === undefined) return { ...request, body };
    sent[n] ??= { ...request, body };
    return sent[n];
  };
  for (const { actions, turns, lost: lostCall = -1, filter } of steps) {
    [changes, waits, lost] = [[], [...turns], lostCall];
    const done: Done[] = [];
    await Promise.all(
      actions.map(async ({ n, at }) => {
        const action = toAction(n, at);
        const isKeyed = "key" in action && action.key !== undefined;
        let before: Done | undefined;
        for (let isLost = true; isLost; ) {
          const answer = await send(account, action);
          isLost = answer.status === 503;
          if (answer.status !== 429) {
            before = { action, answer: isLost ? undefined : answer, before };
            done.push(before);
          }
          if (!isKeyed) break;
        }
      }),
    );
    lost = -1;
    const events = toEvents(changes).map(({ account: _, version: __, ...event }) => {
      const { id, createdAt, ...others } = event;
      return event.type === "lead.created" ? event : others;
    });
    const records = [...memory.items()].flatMap(
      ({ pk }) => /^IDEMPOTENCY#[^#]*#(.*)/.exec(`${pk}`)?.[1] ?? [],
    );
    const after = explain(state, done, events, records.sort());
    expect(after, JSON.stringify({ state, done, events }, null, 1)).toBeDefined();
    if (after) state = after;
    for (const { id } of state.leads) if (!known.includes(id)) known.push(id);
    const ids = filter.id?.map((at) => known[at % known.length]);
    await check(account, state, { ...filter, id: ids }, memory.items());
  }
}

test("leads with external ids and addresses match a model in memory, even after concurrent requests and lost responses", async () => {
  // Retries do not wait.
  vi.spyOn(Math, "random").mockReturnValue(0);
  using _ = skipWaits();
  await fc.assert(fc.asyncProperty(fc.noBias(history), run), { numRuns: runs(80, 8) });
});
