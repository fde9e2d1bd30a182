import { compressedFrom } from "../../../shared/http/compressed-responses.ts";
import { number, table } from "../markdown.ts";
import type { Result } from "./results.ts";

/** In US dollars: docs/deploying.md and docs/bench/attack-costs.md have the sources. */
const prices = { gigabyteSecond: 13.33e-6, transferredGigabyte: 0.09 } as const;

/** Lambda gives a function of 1,024 MB this share of a processor. */
const processorShare = 1024 / 1769;

/** What a million responses cost, in US dollars. */
const transfer = (bytes: number) => (bytes * 1e6 * prices.transferredGigabyte) / 1e9;
const processor = (microseconds: number) => (microseconds / processorShare) * prices.gigabyteSecond;

const share = (part: number, whole: number) => `${number((100 * part) / whole)} %`;

function encodingsTable({ plainBytes, stringify, encoded, handled }: Result): string {
  return table(
    ["encoding", "bytes", "of the plain bytes", "processor (µs)", "× JSON.stringify", "of the function"],
    [
      ["plain", number(plainBytes), "100 %", number(stringify), 1, share(stringify, handled.plain)],
      ...encoded.map(({ name, bytes, time }) => [
        ...[name, number(bytes), share(bytes, plainBytes), number(time, 0), number(time / stringify)],
        share(time, handled.plain),
      ]),
    ],
  );
}

const ourResult = ({ encoded }: Result, name: string) => {
  const result = encoded.find((encoding) => encoding.name === name);
  if (!result) throw new Error(`${name} was not measured.`);
  return result;
};

/** The page of the documentation. */
export function report(
  results: readonly Result[],
  small: readonly string[],
  ours: string,
  date: Date,
): string {
  const large = results.filter(({ name }) => !small.includes(name));
  return `# Compressed responses

Measured by \`npm run bench:compression\` (${date.toISOString().slice(0, 10)}, Node ${process.version}): pages of leads as JSON, and the processor time of one thread, in which everything takes turns. Times are medians, for a body from text to base64. The function is the deployed bundle of \`list-leads\` with the SDK, on a table in another thread that responds at once. Compare the times of a table with each other, not with those of another machine.

## Encodings

The service uses ${ours}. Times of \`JSON.stringify\` are without the encoding as bytes.

${large.map((result) => `### ${result.name}\n\n${encodingsTable(result)}`).join("\n\n")}

## Sizes

What ${ours} saves of small pages. Dollars are for a million responses, at ${prices.transferredGigabyte} for a gigabyte to the internet and ${prices.gigabyteSecond * 1e6} for a million GB-seconds of a function with 1,024 MB, which has ${number(processorShare, 2)} of a processor. Bodies from ${number(compressedFrom)} bytes are compressed.

${table(
  [
    "page",
    "plain bytes",
    "bytes",
    "of the plain bytes",
    "processor (µs)",
    "dollars of processor",
    "dollars of transfer saved",
  ],
  results
    .filter(({ name }) => small.includes(name))
    .map((result) => {
      const { bytes, time } = ourResult(result, ours);
      return [
        ...[result.name, number(result.plainBytes), number(bytes), share(bytes, result.plainBytes)],
        ...[number(time, 0), number(processor(time), 4), number(transfer(result.plainBytes - bytes), 4)],
      ];
    }),
)}

## The function

The whole function for a caller that does not accept gzip, and for one that does.

${table(
  ["page", "plain bytes", "bytes", "plain (µs)", "gzip (µs)", "gzip / plain"],
  large.map((result) => {
    const { name, plainBytes, handled } = result;
    return [
      ...[name, number(plainBytes), number(ourResult(result, ours).bytes), number(handled.plain, 0)],
      ...[number(handled.gzip, 0), number(handled.gzip / handled.plain, 2)],
    ];
  }),
)}
`;
}
