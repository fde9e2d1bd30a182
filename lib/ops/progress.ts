import { Presets, SingleBar } from "cli-progress";

/** The progress of a long command. */
export interface Progress {
  /** Adds rows to the expected total. */
  expect(rows: number): void;
  /** Adds rows that are done. */
  advance(rows: number): void;
  stop(): void;
}

/** Shows a progress bar on stderr if it is a terminal. */
export function startProgress(label: string): Progress {
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
  let [done, expected] = [0, 0];
  const startedAt = performance.now();
  const show = () => {
    bar.setTotal(Math.max(done, expected));
    bar.update(done, { rate: Math.round((1000 * done) / (performance.now() - startedAt)) });
  };
  if (process.stderr.isTTY) bar.start(0, 0, { rate: 0 });
  return {
    expect(rows) {
      expected += rows;
      show();
    },
    advance(rows) {
      done += rows;
      show();
    },
    stop: () => bar.stop(),
  };
}
