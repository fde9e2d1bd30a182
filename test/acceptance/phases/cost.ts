import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../../../shared/json.ts";
import { request } from "../../../shared/logging/log-events.ts";
import { routes } from "../../../shared/routes.ts";
import { conversations, leads, unique } from "../../contract/account.ts";
import type { HttpResponse } from "../../contract/client.ts";
import { percentile } from "../../support/cases/statistics.ts";
import { type AwsStage, logLag, readFunctionLog } from "../aws-stage.ts";
import { assumption, compared, type Finding, notSeen } from "../finding.ts";
import type { Acceptance, Phase } from "../phase.ts";
import { countedWithin } from "./counting.ts";

/** How many requests of a kind are sent: a few of them also pay for the rate limit of the others. */
const requestsOfKind = 20;

/** What requests cost, by the units that DynamoDB reports and the functions log. */
export const cost: Phase = {
  name: "cost",
  needs: "aws",
  async *run(acceptance) {
    const { aws, accounts, wait, now } = acceptance as Acceptance & { aws: AwsStage };
    const start = now();
    const prepared = await prepare(acceptance);
    const sent = new Map<string, unknown[]>();
    for (const { name, send } of kinds) {
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
    for (const [name, ids] of sent)
      yield compareUnits(
        name,
        ids.flatMap((id) => lines.get(id) ?? []),
      );
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

interface Prepared {
  readonly leadId: string;
  /** The source of many leads, which is also the externalId of one lead. */
  readonly source: string;
  /** The number of pages of all leads, with 20 leads on a page. */
  readonly pages: number;
}

/** Requests that cost the same. */
interface Kind {
  /** The name in the documentation. */
  readonly name: string;
  send(acceptance: Acceptance, prepared: Prepared, n: number): Promise<HttpResponse>;
}

const key = () => ({ "idempotency-key": randomUUID() });
const lead = ({ source }: Prepared) => ({ name: "Accept", email: "accept@example.com", source });
const message = ({ leadId }: Prepared, channel: string) => ({ leadId, channel, message: "Hello" });

export const kinds: readonly Kind[] = [
  { name: "First page of leads", send: ({ mine }) => mine.get(leads) },
  {
    name: "Any page of 1,000,000 leads, unfiltered",
    send: ({ mine }, { pages }) => mine.get(`${leads}?page=${pages}`),
  },
  {
    name: "Any page of 1,000,000 leads, `status=new`",
    send: ({ mine }) => mine.get(`${leads}?status=new&page=2`),
  },
  {
    name: "A lead with an email address and a source",
    send: ({ mine }, prepared) => mine.post(leads, lead(prepared)),
  },
  {
    name: "A lead with an email address and a source, with `Idempotency-Key`",
    send: ({ mine }, prepared) => mine.post(leads, lead(prepared), key()),
  },
  {
    name: "A lead with an email address and a source, with `externalId`",
    send: ({ mine }, prepared) => mine.post(leads, { ...lead(prepared), externalId: unique("cost") }),
  },
  {
    name: "A change of a lead's name, by `externalId`",
    send: ({ mine }, { source }, n) =>
      mine.post(`${leads}?ifExists=update`, { externalId: source, name: `Accept ${n}` }),
  },
  {
    name: "A message that starts a conversation",
    send: ({ mine }, prepared, n) => mine.post(conversations, message(prepared, `c${n}`)),
  },
  {
    name: "A message that joins a conversation",
    send: ({ mine }, prepared) => mine.post(conversations, message(prepared, "c0")),
  },
  {
    name: "A message that joins a conversation, with `Idempotency-Key`",
    send: ({ mine }, prepared) => mine.post(conversations, message(prepared, "c0"), key()),
  },
];

/** Creates the records that requests need, and waits until they are counted, because lists read uncounted rows. */
async function prepare({ mine, wait }: Acceptance): Promise<Prepared> {
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
export function compareUnits(name: string, lines: readonly RequestLine[]): Finding {
  const documented = readUnits().get(name);
  const expected = documented
    ? `at most ${documented.writes} W and ${documented.reads} R`
    : "documented units";
  const comparison = { check: name, page: assumption("units-of-requests"), expected };
  if (lines.length === 0) return notSeen(comparison, "the logs have none of its requests");
  const failed = lines.find(({ status }) => status >= 300);
  if (failed) return compared(comparison, `a request returned ${failed.status}`);
  const median = (unit: keyof Units) =>
    percentile(
      lines.map((line) => line[unit]),
      0.5,
    );
  const [writes, reads] = [median("writes"), median("reads")];
  // Lines without units prove nothing.
  const holds = documented && writes <= documented.writes && reads <= documented.reads && writes + reads > 0;
  return compared(comparison, `${writes} W and ${reads} R`, holds === true);
}
