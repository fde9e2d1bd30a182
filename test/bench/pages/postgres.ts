import { deepStrictEqual } from "node:assert";
import { execFileSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { engineClient } from "../../../lib/local/engine/dynamodb-client.ts";
import { engineBinary } from "../../../lib/local/engine/engine.ts";
import { startLocal } from "../../../lib/local/local-run.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { createdAt } from "../../../shared/ids.ts";
import { percentile } from "../../support/statistics.ts";
import { Account } from "./account.ts";
import { installClock } from "./clock.ts";
import { buildRows, details, type LeadRow, sourcePicker } from "./lead-rows.ts";
import { limit } from "./read-list.ts";

const account = "bench";

/** How often a page is read from both by turns, and how many times in each round. */
const [rounds, reads] = [10, 20];

/** Each list has an index in its order. */
const schema = `
  SET client_min_messages = warning;
  DROP TABLE IF EXISTS bench_leads;
  CREATE TABLE bench_leads (account text, id text COLLATE "C", status text, source text, name text, email text,
    tags text[], score int, created_at timestamptz, PRIMARY KEY (account, id));
  CREATE INDEX ON bench_leads (account, source, id);`;

/** How long a page takes, in milliseconds: the median of the quietest round, because no machine is idle. */
interface Times {
  /** A page with its total through the local run, and the same in Postgres. */
  readonly counted: number;
  readonly postgres: number;
  /** The same rows in Postgres by a cursor, without a total. */
  readonly cursor: number;
}

type Psql = (script: string) => string;
type Read = (query: string) => Promise<{ data?: { id: string }[]; pagination?: { total: number } }>;

/** Times pages of the local run beside a page and its `count(*)` in Postgres, where it replaces the table `bench_leads`. */
export async function comparePostgres(address: string, sizes: readonly number[]) {
  const psql: Psql = (input) =>
    execFileSync("psql", ["-XAtq", "-v", "ON_ERROR_STOP=1", address], { input, encoding: "utf8" });
  const directory = await mkdtemp(join(tmpdir(), "bench-postgres-"));
  const options = { dataDirectory: directory, throttling: false, streams: false, log: () => {} };
  const empty = await startLocal(options);
  const describe = new DescribeTableCommand({ TableName: empty.tableName });
  const { Table } = await engineClient(empty.dynamodbEndpoint).send(describe);
  await writeFile(join(directory, "schema.json"), JSON.stringify([{ Table }]));
  await empty.stop();
  const compared = [];
  for (const leads of sizes) {
    const rows = buildRows(leads, sourcePicker(5, false));
    storeInPostgres(rows, psql);
    const apiKey = await storeLocally(rows, directory, empty.tableName);
    const local = await startLocal({ ...options, templateDirectory: join(directory, "stack") });
    const headers = { authorization: `Bearer ${apiKey}` };
    const read: Read = async (query) =>
      (await fetch(`${local.url}/api/v1/leads?${query}`, { headers })).json() as ReturnType<Read>;
    for (const source of [undefined, rows[0]?.source]) {
      const listed = rows.filter((row) => source === undefined || row.source === source);
      for (const page of [1, Math.ceil(listed.length / limit / 2)]) {
        const list = source ? "one of five sources" : "all";
        const times = await time({ listed, source, page }, psql, read);
        compared.push({ leads, list, page: page === 1 ? "first" : "middle", ...times });
      }
    }
    await local.stop();
  }
  await rm(directory, { recursive: true });
  psql("DROP TABLE bench_leads");
  return compared;
}

function storeInPostgres(rows: readonly LeadRow[], psql: Psql): void {
  const lines = rows.map(({ id, status, source }) => {
    const { name, email } = details(id.slice(-10));
    return [account, id, status, source, name, email, "{import}", 0, createdAt(id)].join("\t");
  });
  psql(`${schema}\nCOPY bench_leads FROM STDIN;\n${lines.join("\n")}\n\\.\nVACUUM ANALYZE bench_leads;\n`);
}

/** Counts leads in memory, and imports them and their counts as an export of DynamoDB. @returns an API key */
async function storeLocally(rows: LeadRow[], directory: string, tableName: string): Promise<string> {
  const { now } = Date;
  installClock();
  const counted = new Account(account, rows);
  await counted.count();
  const { apiKey } = await issueApiKey(account);
  Date.now = now;
  const source = join(directory, "export");
  await mkdir(join(source, tableName, "data"), { recursive: true });
  const items = counted.memory.items();
  const lines = Readable.from(items).map((item) => `${JSON.stringify({ Item: marshall(item) }, toBase64)}\n`);
  // The lines of a million leads are longer than a string can be.
  await pipeline(lines, createGzip(), createWriteStream(join(source, tableName, "data", "all.json.gz")));
  const [schema, output] = [join(directory, "schema.json"), join(directory, "dynamodb.sqlite")];
  const args = ["import", "--source", source, "--schema", schema, "--output", output, "--force"];
  execFileSync(engineBinary(), args, { stdio: "ignore" });
  return apiKey;
}

/** JSON has binary values in base64. */
function toBase64(this: Record<string, unknown>, name: string, value: unknown) {
  const bytes = this[name];
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString("base64") : value;
}

/** A page of a list. */
interface Asked {
  /** The rows of the list, oldest first. */
  readonly listed: readonly LeadRow[];
  readonly source: string | undefined;
  readonly page: number;
}

/** Reads a page from both by turns. @throws AssertionError if it or its total is wrong */
async function time({ listed, source, page }: Asked, psql: Psql, read: Read): Promise<Times> {
  const end = listed.length - (page - 1) * limit;
  const ids = listed.slice(end - limit, end).map(({ id }) => id);
  const expected = { ids: ids.reverse(), total: listed.length };
  const where = `FROM bench_leads WHERE account = '${account}'${source ? ` AND source = '${source}'` : ""}`;
  const order = `ORDER BY id DESC LIMIT ${limit}`;
  // A client prepares its statements and has a connection: the first of each are not timed.
  const script = `
    -- By default, plans are for disks that seek and for many cores, and take up to three times as long.
    SET random_page_cost = 1.1;
    SET max_parallel_workers_per_gather = 0;
    PREPARE page AS SELECT * ${where} ${order} OFFSET $1;
    PREPARE total AS SELECT count(*) ${where};
    PREPARE after_row AS SELECT * ${where} AND id < $1 ${order};
    \\timing on
    ${`EXECUTE page(${(page - 1) * limit}); EXECUTE total; EXECUTE after_row('${listed[end]?.id ?? "~"}');\n`.repeat(reads + 1)}`;
  const medians: Times[] = [];
  for (let round = 0; round < rounds; round++) {
    const results = [...psql(script).matchAll(/(.*?)\nTime: ([\d.]+) ms.*?\n/gs)].slice(3);
    const timesOf = (n: number) => results.filter((_, at) => at % 3 === n).map(([, , ms]) => Number(ms));
    const found = results
      .slice(0, 3)
      .map(([, lines = ""]) => lines.split("\n").map((line) => line.split("|")));
    deepStrictEqual(
      [found[0]?.map((buckets) => buckets[1]), found[1], found[2]?.map((buckets) => buckets[1])],
      [expected.ids, [[String(expected.total)]], expected.ids],
    );
    const query = `page=${page}${source ? `&source=${source}` : ""}`;
    // While psql ran, the local run may have closed the connection; and a function that starts may be too slow.
    await read(query).catch(() => {});
    const counted = [];
    for (let n = 0; n < reads; n++) {
      const start = performance.now();
      const { data, pagination } = await read(query);
      counted.push(performance.now() - start);
      deepStrictEqual({ ids: data?.map(({ id }) => id), total: pagination?.total }, expected);
    }
    const [pages, totals, cursors] = [timesOf(0), timesOf(1), timesOf(2)];
    const postgres = pages.map((ms, n) => ms + (totals[n] ?? Number.NaN));
    medians.push({ counted: median(counted), postgres: median(postgres), cursor: median(cursors) });
  }
  const least = (name: keyof Times) => Math.min(...medians.map((times) => times[name]));
  return { counted: least("counted"), postgres: least("postgres"), cursor: least("cursor") };
}

const median = (times: readonly number[]) => percentile(times, 0.5);
