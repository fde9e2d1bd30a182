import { ulid } from "ulid";
import { advanceClock } from "./clock.ts";
import { createdRecord } from "./items.ts";
import { deliver } from "./maintainer.ts";
import type { Population } from "./population.ts";
import type { LeadRow } from "./rows.ts";
import { chunks, writeRows } from "./write-rows.ts";

/** How many leads each list gets: nearly as many as a feed leaves in the tail. */
const rowsEach = 90;

/** The leads of a stream batch, and the time between two leads, in milliseconds. */
const batchSize = 100;
const apart = 100;

/**
 * Creates leads by turns, which the stream delivers to the maintainer.
 *
 * @param kinds the fields of the leads, the id apart: one for each list that grows
 */
export async function growLists(
  population: Population,
  kinds: readonly Omit<LeadRow, "id">[],
): Promise<void> {
  const fields = Array.from({ length: rowsEach }, () => kinds).flat();
  for (const some of chunks(fields, batchSize)) {
    const rows = some.map((kind) => {
      advanceClock(apart);
      return { ...kind, id: `lead_${ulid(Date.now())}` };
    });
    await writeRows(population.account, rows);
    population.add(...rows);
    await deliver(rows.map((row) => createdRecord(population.account, row)));
  }
}
