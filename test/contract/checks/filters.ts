import { setTimeout } from "node:timers/promises";
import { conversations, leads, type Message, type Query, type Row, unique } from "../account.ts";
import { type Check, type Context, promises, shared } from "../check.ts";
import { expectResponse } from "../expectations.ts";
import { expectFaults } from "./faults.ts";

/** Four leads, the oldest first, and a conversation on two channels of each of the first two. */
async function makeRecords({ mine }: Context) {
  const tag = unique("filters");
  const made: Row[] = [];
  const sent: Message[] = [];
  for (const [address, source] of [
    [`Ada-${tag}@Example.com`, "web"],
    [`grace-${tag}@example.com`, "web"],
    [`ada-${tag}@example.com`, "fair"],
    [`ada-${tag}@example.com.au`, "straße, a=b&c+d"],
  ] as const) {
    made.push(await mine.createLead({ email: address, source: `${tag}-${source}` }));
    // Each lead has a time of its own.
    await setTimeout(3);
  }
  for (const { id } of made.slice(0, 2)) {
    for (const channel of ["sms", "web"]) {
      sent.push(await mine.sendMessage(id, `${tag}-${channel}`));
      await setTimeout(3);
    }
  }
  /** The creation time of a row, moved by some milliseconds. */
  const time = (rows: readonly Row[], n: number, more = 0) =>
    new Date(Date.parse(rows[n]?.createdAt ?? "") + more).toISOString();
  return {
    tag,
    ids: {
      [leads]: made.map(({ id }) => id),
      [conversations]: sent.map((message) => message.conversationId),
    },
    lead: (n: number) => made[n]?.id ?? "",
    conversation: (n: number) => sent[n]?.conversationId ?? "",
    at: (n: number, more?: number) => time(made, n, more),
    startedAt: (n: number, more?: number) => time(sent, n, more),
  };
}

/** Ids of leads and conversations, by the paths of their lists. */
interface Made {
  readonly ids: Readonly<Record<typeof leads | typeof conversations, readonly string[]>>;
}

/** Expects queries of a list to find these of the records that `make` makes, by their numbers and in this order. */
export const findsOf =
  <M extends Made>(make: (context: Context) => Promise<M>) =>
  (path: keyof Made["ids"], cases: (made: M) => readonly (readonly [Query, number[]])[]): Check["run"] =>
  async (context) => {
    const made = await shared(context, make);
    for (const [query, rows] of cases(made)) {
      const ids = rows.map((n) => made.ids[path][n] ?? "");
      await context.mine.expectIndexed(path, query, ids);
    }
  };

const finds = findsOf(makeRecords);

export const filterChecks = promises("docs/usage.md#filters", {
  "Leads are filtered by source and email in any letter case, by status, and filters combine": finds(
    leads,
    ({ tag, lead, at }) => [
      [{ source: `${tag}-WEB` }, [1, 0]],
      [{ source: `${tag}-straße, A=b&c+d` }, [3]],
      [{ email: `ADA-${tag}@EXAMPLE.COM` }, [2, 0]],
      [{ status: "new", createdAfter: at(0), createdBefore: at(3, 1) }, [3, 2, 1, 0]],
      [{ source: `${tag}-web`, status: "new" }, [1, 0]],
      [{ source: `${tag}-web`, status: "booked" }, []],
      [{ id: lead(2), source: `${tag}-fair`, status: "new", email: `ada-${tag}@example.com` }, [2]],
      [{ id: lead(2).toLowerCase() }, []],
    ],
  ),
  "createdAfter includes its time, createdBefore excludes it, and equal times find nothing": finds(
    leads,
    ({ at }) => [
      [{ createdAfter: at(1), createdBefore: at(3) }, [2, 1]],
      [{ createdAfter: at(1, 1), createdBefore: at(3, 1) }, [3, 2]],
      [{ createdAfter: at(1), createdBefore: at(1) }, []],
    ],
  ),
  "A time can have an offset, and digits beyond the millisecond are ignored": finds(leads, ({ at }) => {
    const inIndia = at(1, 5.5 * 3_600_000).replace("Z", "+05:30");
    return [[{ createdAfter: inIndia, createdBefore: at(3).replace("Z", "999Z") }, [2, 1]]];
  }),
  "Conversations are filtered by channel and status in any letter case, by lead, and filters combine": finds(
    conversations,
    ({ tag, lead, startedAt }) => [
      [{ channel: `${tag}-WEB` }, [3, 1]],
      [{ channel: `${tag}-web`, status: "ACTIVE" }, [3, 1]],
      [{ channel: `${tag}-web`, status: "closed" }, []],
      [{ leadId: lead(1), channel: `${tag}-sms`, status: "active" }, [2]],
      [{ createdAfter: startedAt(1), createdBefore: startedAt(3) }, [2, 1]],
    ],
  ),
  "Several ids find their rows, each once, newest first, on pages with an exact total": async (context) => {
    const { lead, conversation } = await shared(context, makeRecords);
    const { mine, other } = context;
    const unknown = `lead_${"0".repeat(26)}`;
    const foreign = (await other.createLead()).id;
    const ids = [lead(1), unknown, lead(3), foreign, lead(1), "x", lead(2)];
    await mine.expectRows(leads, { id: String(ids) }, [lead(3), lead(2), lead(1)]);
    await mine.expectRows(conversations, { id: `${conversation(0)},${conversation(2)}`, leadId: lead(1) }, [
      conversation(2),
    ]);
    expectResponse(await mine.get(`${leads}?id=${ids}&limit=2&page=2`), {
      status: 200,
      body: { data: [{ id: lead(1) }], pagination: { page: 2, limit: 2, total: 3 } },
    });
    const full = [...ids, ...Array(93).fill(unknown)];
    await mine.expectRows(leads, { id: String(full) }, [lead(3), lead(2), lead(1)]);
    expectFaults(await mine.get(`${leads}?id=${[...full, unknown]}`), ["query id too_many"]);
    expectFaults(await mine.get(`${leads}?id=${lead(1)},,`), [
      "query id[1] too_short",
      "query id[2] too_short",
    ]);
  },
  "A value that no row has returns an empty page": async ({ mine }) => {
    const nobody = unique("nobody");
    const longest = `${nobody}${"\u{1F600}".repeat(64 - nobody.length)}`;
    for (const value of [nobody, `${nobody} %#`, longest]) {
      for (const filter of ["id", "source"]) await mine.expectRows(leads, { [filter]: value }, []);
      for (const filter of ["id", "leadId", "channel", "status"])
        await mine.expectRows(conversations, { [filter]: value }, []);
    }
  },
  "A query is read in each of the usual encodings": async (context) => {
    const { tag, lead } = await shared(context, makeRecords);
    await context.mine.expectIndexed(leads, { source: `${tag}-straße, a=b&c+d` }, [lead(3)]);
    const body = { data: [{ id: lead(3) }], pagination: { total: 1 } };
    for (const value of ["stra%C3%9Fe%2C+a%3Db%26c%2Bd", "stra%c3%9fe,%20a=b%26c%2Bd"])
      expectResponse(await context.mine.get(`${leads}?&s%6furce=${tag}-${value}&&page=1`), {
        status: 200,
        body,
      });
  },
});
