import { Presets, SingleBar } from "cli-progress";

/** A bar that shows how far long work has come. */
export interface Progress {
  /** More work is to be done than was known. */
  expect(rows: number): void;
  advance(rows: number): void;
  stop(): void;
}

/** A bar on the terminal; nothing where stderr is none, as in a script. */
export function startProgress(label: string): Progress {
  const bar = new SingleBar(
    {
      // Short enough for 80 columns, also with millions of rows: what is longer is cut off.
      format: `${label} {bar} {percentage} % · {value} of {total} rows · {eta_formatted} left · {rate}/s`,
      barsize: 10,
      // So that there is nothing to put right in the terminal, and a Ctrl-C ends the command at once.
      linewrap: true,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  let [done, expected] = [0, 0];
  const began = performance.now();
  const show = () => {
    bar.setTotal(Math.max(done, expected));
    bar.update(done, { rate: Math.round((1000 * done) / (performance.now() - began)) });
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
