import { encodings } from "./encodings.ts";
import type { PageFunction } from "./function.ts";
import { measure, type Work } from "./measure.ts";
import type { BenchPage } from "./pages.ts";

/** What was measured of a page; times are in microseconds of a processor. */
export interface Result {
  readonly name: string;
  readonly plainBytes: number;
  readonly stringify: number;
  readonly encoded: readonly { readonly name: string; readonly bytes: number; readonly time: number }[];
  /** The whole function, for a caller that accepts no encoding, and for one that accepts gzip. */
  readonly handled: { readonly plain: number; readonly gzip: number };
}

const stringify = "JSON.stringify";

/** Measures a page: each encoding of its body, and the function. */
export async function measurePage(
  { name, page, body }: BenchPage,
  { list }: PageFunction,
  rounds: number,
): Promise<Result> {
  const works = new Map<string, Work>([
    [stringify, () => JSON.stringify(page)],
    ["plain", () => list("identity")],
    ["gzip", () => list("gzip")],
    ...encodings.map(({ name, compress }): [string, Work] => [name, () => compress(body).toString("base64")]),
  ]);
  const times = await measure(works, rounds);
  const time = (key: string) => times.get(key) ?? Number.NaN;
  return {
    name,
    plainBytes: Buffer.byteLength(body),
    stringify: time(stringify),
    encoded: encodings.map(({ name, compress }) => ({
      ...{ name, bytes: compress(body).length },
      time: time(name),
    })),
    handled: { plain: time("plain"), gzip: time("gzip") },
  };
}
