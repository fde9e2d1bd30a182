import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../../../shared/json.ts";
import { request } from "../../../shared/logging/log-events.ts";
import { routes } from "../../../shared/routes.ts";
import { conversations, leads, unique } from "../../contract/account.ts";
import type { HttpResponse } from "../../contract/client.ts";
import { spread } from "../../support/cases/statistics.ts";
import { logLag, readFunctionLog } from "../aws-stage.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";
import { countedWithin } from "./counting.ts";

/** How many requests of a kind are sent: a few of them also pay for the rate limit of the others. */
const requestsOfKind = 20;

/** What requests cost, by the units that DynamoDB reports and the functions log. */
export const cost: Phase = {
  name: "cost",
  needs: "aws",
  async *run(acceptance, aws) {
    const { accounts, wait } = acceptance;
    const start = Date.now();
    const prepared = await prepare(acceptance);
    const sent = new Map<string, unknown[]>();
    for (const [name, send] of Object.entries(kinds)) {
      const ids = [];
      for (let n = 0; n < requestsOfKind; n++)
        ids.push((await send(acceptance, prepared, n)).headers["apigw-requestid"]);
      sent.set(name, ids);
    }
    await wait(logLag);
    const pattern = `{ $.message.event = "${request}" && $.message.account = "${accounts.mine}" }`;
    const lines = new Map<unknown, RequestLine>();
    for (const { name } of Object.values(routes))
      for (const { message } of await readFunctionLog(aws, name, start, pattern))
        if (isRecord(message)) lines.set(message.requestId, message as unknown as RequestLine);
    for (const [name, ids] of sent) {
      const found = ids.flatMap((id) => lines.get(id) ?? []);
      yield compareUnits(name, found);
    }
  },
};

/** The log line of a request. */
interface RequestLine extends Units {
  readonly status: number;
}

interface Units {
  readonly reads: number;
  readonly writes: number;
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

type Send = (acceptance: Acceptance, prepared: Prepared, n: number) => Promise<HttpResponse>;

const key = () => ({ "idempotency-key": randomUUID() });
const lead = ({ source }: Prepared) => ({ name: "Accept", email: "accept@example.com", source });
const message = ({ leadId }: Prepared, channel: string) => ({ leadId, channel, message: "Hello" });

/** Requests of which each kind costs the same, by their names in the documentation. */
export const kinds: Readonly<Record<string, Send>> = {
  "First page of leads": ({ mine }) => mine.get(leads),
  "Any page of 1,000,000 leads, unfiltered": ({ mine }, { pages }) => mine.get(`${leads}?page=${pages}`),
  "Any page of 1,000,000 leads, `status=new`": ({ mine }) => mine.get(`${leads}?status=new&page=2`),
  "A lead with an email address and a source": ({ mine }, prepared) => mine.post(leads, lead(prepared)),
  "A lead with an email address and a source, with `Idempotency-Key`": ({ mine }, prepared) =>
    mine.post(leads, lead(prepared), key()),
  "A lead with an email address and a source, with `externalId`": ({ mine }, prepared) =>
    mine.post(leads, { ...lead(prepared), externalId: unique("cost") }),
  "A change of a lead's name, by `externalId`": ({ mine }, { source }, n) =>
    mine.post(`${leads}?ifExists=update`, { externalId: source, name: `Accept ${n}` }),
  "A message that starts a conversation": ({ mine }, prepared, n) =>
    mine.post(conversations, message(prepared, `c${n}`)),
  "A message that joins a conversation": ({ mine }, prepared) =>
    mine.post(conversations, message(prepared, "c0")),
  "A message that joins a conversation, with `Idempotency-Key`": ({ mine }, prepared) =>
    mine.post(conversations, message(prepared, "c0"), key()),
};

/**
 * Creates the records that requests need, and waits until they are counted, because lists read uncounted rows.
 *
 * @returns the `source` of many leads, which is also the externalId of one lead, and the number of `pages` of 20 leads
 */
async function prepare({ mine, wait }: Acceptance) {
  const source = unique("cost");
  const { id: leadId } = await mine.createLead({ source, externalId: source });
  for (let n = 0; n < 2 * requestsOfKind; n++) await mine.createLead({ source });
  await wait(1000 * countedWithin);
  return { leadId, source, pages: Math.ceil((await mine.count(leads)) / 20) };
}

/**
 * The units of requests in the documentation, where "The same" stands for the name before. The units of writes exclude
 * counting, which is not part of the request.
 */
export function readUnits(): ReadonlyMap<string, Units> {
  const units = new Map<string, Units>();
  for (const page of ["deploying.md", "bench/pages.md"]) {
    const text = readFileSync(join(import.meta.dirname, "../../../docs", page), "utf8");
    let former = "";
    for (const [, cell = "", writes, reads] of text.matchAll(/^\| (.+?) \| ([\d.]+) \| ([\d.]+) \|/gm)) {
      const name = cell.replace("The same", former);
      if (name === cell) former = name;
      units.set(name, { writes: Number(writes), reads: Number(reads) });
    }
  }
  return units;
}

/** Compares the median cost of some requests with the documented cost. */
function compareUnits(name: string, lines: readonly RequestLine[]): Finding {
  const documented = readUnits().get(name);
  const expected = documented
    ? `at most ${documented.writes} W and ${documented.reads} R`
    : "documented units";
  const comparison = assumption("units-of-requests", name, expected);
  if (lines.length === 0) return notSeen(comparison, "the logs have none of its requests");
  const failed = lines.find(({ status }) => status >= 300);
  if (failed) return compared(comparison, `a request returned ${failed.status}`);
  const median = (unit: keyof Units) => spread(lines.map((line) => line[unit])).median;
  const [writes, reads] = [median("writes"), median("reads")];
  // Lines without units prove nothing.
  const holds = documented && writes <= documented.writes && reads <= documented.reads && writes + reads > 0;
  return compared(comparison, `${writes} W and ${reads} R`, holds === true);
}
