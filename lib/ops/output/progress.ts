import { Presets, SingleBar } from "cli-progress";
import ms from "ms";

/** Reports rows that are done. */
export type OnRows = (rows: number) => void;

/** Shows the progress of work on stderr if it is a terminal. The total can cost reads, so it is read only for a terminal. */
export async function withProgress<T>(
  label: string,
  countTotal: () => number | Promise<number>,
  work: (onRows: OnRows) => Promise<T>,
): Promise<T> {
  if (!process.stderr.isTTY) return work(() => {});
  const bar = new SingleBar(
    {
      // Fits into 80 columns with millions of rows; longer text would be cut off.
      format: `${label} {bar} {percentage} % · {value} of {total} rows · {left} left · {rate}/s`,
      barsize: 10,
      // Keeps the terminal's settings unchanged, and lets Ctrl-C end the command at once.
      linewrap: true,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  try {
    // Counts that cannot be read hinder no work.
    const expected = await Promise.resolve(countTotal()).catch(() => 0);
    const startedAt = performance.now();
    let done = 0;
    return await work((rows) => {
      done += rows;
      // Nothing can be said of the rest: there are empty lists.
      if (done === 0) return;
      const total = Math.max(done, expected);
      // Of all the time since the start: that of the last rows alone jumps.
      const perRow = (performance.now() - startedAt) / done;
      const left = ms(Math.ceil(((total - done) * perRow) / 1000) * 1000);
      if (!bar.isActive) bar.start(total, done, { left, rate: 0 });
      bar.setTotal(total);
      bar.update(done, { left, rate: Math.round(1000 / perRow) });
    });
  } finally {
    bar.stop();
  }
}
