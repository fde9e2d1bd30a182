import { ulid } from "ulid";
import { advanceClock } from "./clock.ts";
import { createdRecord } from "./items.ts";
import { deliver } from "./maintainer.ts";
import type { Population } from "./population.ts";
import type { Row } from "./rows.ts";
import { chunks, writeRows } from "./write-rows.ts";

/** How many rows each list gets: nearly as many as the maintainer leaves uncounted. */
const rowsEach = 90;

/** The rows of a stream batch, and the time between two rows, in milliseconds. */
const batchSize = 100;
const apart = 100;

/**
 * Creates rows by turns, which the stream delivers to the maintainer.
 *
 * @param kinds the fields of the rows, the id apart: one for each list that grows
 */
export async function growLists<R extends Row>(
  population: Population<R>,
  prefix: "lead" | "conv",
  kinds: readonly Omit<R, "id">[],
): Promise<void> {
  const fields = Array.from({ length: rowsEach }, () => kinds).flat();
  for (const some of chunks(fields, batchSize)) {
    const rows = some.map((kind) => {
      advanceClock(apart);
      return { ...kind, id: `${prefix}_${ulid(Date.now())}` } as R;
    });
    await writeRows(population.account, rows);
    population.add(...rows);
    await deliver(rows.map((row) => createdRecord(population.account, row)));
  }
}
