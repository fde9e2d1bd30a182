import { Presets, SingleBar } from "cli-progress";

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
      format: `${label} {bar} {percentage} % · {value} of {total} rows · {eta_formatted} left · {rate}/s`,
      barsize: 10,
      // Keeps the terminal's settings unchanged, and lets Ctrl-C end the command at once.
      linewrap: true,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  bar.start(0, 0, { rate: 0 });
  try {
    // Counts that cannot be read hinder no work.
    const total = await Promise.resolve(countTotal()).catch(() => 0);
    bar.setTotal(total);
    const startedAt = performance.now();
    let done = 0;
    return await work((rows) => {
      done += rows;
      bar.setTotal(Math.max(done, total));
      bar.update(done, { rate: Math.round((1000 * done) / (performance.now() - startedAt)) });
    });
  } finally {
    bar.stop();
  }
}
