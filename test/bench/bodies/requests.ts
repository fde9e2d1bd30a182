import { maxBodyBytes } from "../../../shared/http/json-scan.ts";

/** A request to create-lead. */
export interface BenchRequest {
  readonly name: string;
  readonly body: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: 201 | 400;
}

const lead = '{"name":"Ada Lovelace","email":"ada@example.com","source":"instagram","tags":["vip"]}';

export const normalRequest: BenchRequest = { name: "a lead", body: lead, status: 201 };

/** The longest line of a request and its headers that API Gateway accepts, in bytes. */
const maxHeaderBytes = 10_240;

/** How many bytes of JSON a request of 6 MB has, the most that Lambda accepts, if each must be escaped in the event. */
const mostQuotes = 3_100_000;

/** Repeats something until the body has as many bytes as are parsed. */
function fill(start: string, part: (n: number) => string, end: string, separator = ","): string {
  const parts: string[] = [];
  let length = start.length + end.length;
  for (let n = 0; ; n++) {
    const next = part(n);
    length += Buffer.byteLength(next) + separator.length;
    if (length > maxBodyBytes) return start + parts.join(separator) + end;
    parts.push(next);
  }
}

const text = (field: string, part: string) => fill(`{"name":"Ada","${field}":"`, () => part, '"}', "");
const tags = (part: string) => fill('{"name":"Ada","tags":[', () => part, "]}");
const names = (count: number) => Array.from({ length: count }, (_, n) => n.toString(36));

const bodies: Readonly<Record<string, string>> = {
  "wrong tags": tags("1"),
  "empty tags": tags('""'),
  "objects as tags": tags("{}"),
  "nested tags": tags(`${"[".repeat(90)}${"]".repeat(90)}`),
  "large numbers": tags("1e999999"),
  "1,000 wrong tags": `{"name":"Ada","tags":[${Array(990).fill("1").join()}]}`,
  "unknown fields": fill("{", (n) => `"${n.toString(36)}":1`, "}"),
  "990 unknown fields": `{${names(990)
    .map((name) => `"${name}":1`)
    .join()}}`,
  "990 misspelled fields": `{${names(990)
    .map((name) => `"sourc${name}":1`)
    .join()}}`,
  "repeated fields": fill("{", (n) => `"${(n >> 1).toString(36)}":1`, "}"),
  "990 repeated fields": `{${names(495)
    .map((name) => `"${name}":1,"${name}":1`)
    .join()}}`,
  "990 escaped fields": `{${names(990)
    .map((name) => `"\\u0061\\u0062\\u0063${name}":1`)
    .join()}}`,
  "deep arrays": `${"[".repeat(maxBodyBytes / 2)}${"]".repeat(maxBodyBytes / 2)}`,
  "deep objects": `${'{"":'.repeat(13_000)}1${"}".repeat(13_000)}`,
  "a number of 64,000 digits": `{"name":${"9".repeat(64_000)}}`,
  "control characters": text("source", "\\u0000"),
  "escaped surrogates": text("source", "\\ud83d"),
  "combining marks": text("source", "\u0301"),
  blanks: text("source", " "),
  "a long email address": text("email", "a.b@"),
  "an email address of labels": `{"name":"Ada","email":"a@${"b-".repeat(32_000)}"}`,
  "white space": fill(lead.slice(0, -1), () => "\n", "}", ""),
  "JSON that ends early": fill('{"tags":[', () => "1", "]"),
  "fields that end early": fill("{", (n) => `"${n.toString(36)}":1`, ""),
  "open quotes": fill("", () => '\\"', "", ""),
  "300 KB": `"${"x".repeat(300_000)}"`,
  "6 MB of quotes": '"'.repeat(mostQuotes),
};

const query = (parameters: readonly string[]) => parameters.join("&").slice(0, maxHeaderBytes);

/** Requests that are made to be expensive. */
export const requests: readonly BenchRequest[] = [
  ...Object.entries(bodies).map(([name, body]): BenchRequest => {
    return { name, body, status: name === "white space" ? 201 : 400 };
  }),
  ...Object.entries({
    "thousands of parameters": query(names(5000)),
    "a parameter thousands of times": query(Array(5000).fill("a")),
    "parameters that are not UTF-8": query(Array(3000).fill("%ff")),
  }).map(([name, query]): BenchRequest => ({ name, query, body: lead, status: 400 })),
  {
    name: "an Idempotency-Key of 10 KB",
    headers: { "idempotency-key": `"${"\\\\".repeat(maxHeaderBytes / 2)}` },
    body: lead,
    status: 400,
  },
];
