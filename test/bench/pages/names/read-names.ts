import { ulid } from "ulid";
import { createLead } from "../../../../shared/domain/leads.ts";
import { advanceClock } from "../clock.ts";
import { countAll, countSublists } from "../count-sublists.ts";
import { createdRecord, details } from "../items.ts";
import type { Log } from "../job.ts";
import { batchSize, deliver } from "../maintainer.ts";
import { leadList } from "../measured-list.ts";
import type { Population } from "../population.ts";
import { type ListReading, readList } from "../read-list.ts";
import type { LeadRow } from "../rows.ts";
import { allLists, sourceLists } from "../sizes/filters.ts";
import { type TreeSize, treeSize } from "../tree.ts";
import { verifyLists } from "../verify.ts";
import { chunks, writeRows } from "../write-rows.ts";

/** The cost of an account's lists at a stage of the attack. */
export interface NamesReport {
  readonly stage: string;
  readonly tree: TreeSize;
  readonly readings: readonly ListReading[];
  /** The lists of a source that came after the names. */
  readonly newcomer: readonly ListReading[];
}

/** The longest name that a source may have: this many characters, of four bytes each. */
const characters = 64;

/** The nth of such names. */
const hostileName = (n: number) =>
  String.fromCodePoint(...Array.from({ length: characters }, (_, i) => 0x20000 + ((n + i * i * 7) % 40_000)));

/** How many requests come first; together with them, the leads of another source fill whole pages. */
const requests = 3;
const newcomerLeads = 1000 - requests;

/** Longer than a row may be late in an index, in milliseconds. */
const pastLateness = 60_000;

/** Reads an account, then after three requests with hostile names, and after many more. */
export async function readNames(population: Population, names: number, log: Log): Promise<NamesReport[]> {
  const { account } = population;
  await countAll(account, population.matching({}));
  await countSublists(sourceLists(population));
  const stages: NamesReport[] = [];
  const readStage = async (stage: string, newcomer: readonly ListReading[] = []) => {
    log(`reading: ${stage}`);
    advanceClock(pastLateness);
    const readings = [];
    for (const [index, list] of allLists(population).entries()) {
      // The same rows at each stage.
      const skip = list.rows().length - (stages[0]?.readings[index]?.total ?? list.rows().length);
      readings.push(await readList(list, { random: 100, skip }));
    }
    stages.push({ stage, tree: await treeSize(account), readings, newcomer });
  };
  await readStage("before");
  for (let n = 0; n < requests; n++) await post(population, hostileName(n));
  await readStage("after three requests");
  await addLeads(population, names, (n) => hostileName(n + requests));
  await verifyLists([0, names].map((n) => leadList(population, { source: hostileName(n) })));
  await readStage(`after ${names.toLocaleString("en")} names`);
  await addLeads(population, newcomerLeads, () => "newsletter");
  const newcomer = [
    leadList(population, { source: "newsletter" }),
    leadList(population, { source: "newsletter", status: "new" }),
  ];
  await countSublists(newcomer);
  const readings = [];
  for (const list of newcomer) readings.push(await readList(list, { random: 50, cold: true }));
  await readStage("after another source", readings);
  return stages;
}

/** Creates a lead as the route does. */
async function post(population: Population, source: string): Promise<void> {
  const { account } = population;
  const input = { ...details(ulid().slice(-10)), source };
  const lead = await createLead(account, input, Date.now());
  if (!("status" in lead)) throw new Error("The lead was created before.");
  const row: LeadRow = { id: lead.id, status: lead.status, source };
  population.add(row);
  await deliver([createdRecord(account, row)]);
}

/** Creates leads that the stream delivers in full batches. */
async function addLeads(population: Population, count: number, source: (n: number) => string): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => n);
  for (const batch of chunks(numbers, batchSize)) {
    const rows = batch.map((n): LeadRow => {
      advanceClock(1);
      return { id: `lead_${ulid(Date.now())}`, status: "new", source: source(n) };
    });
    await writeRows(population.account, rows);
    population.add(...rows);
    await deliver(rows.map((row) => createdRecord(population.account, row)));
  }
}
