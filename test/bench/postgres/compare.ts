import { deepStrictEqual } from "node:assert";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { engineClient } from "../../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../../lib/local/local-run.ts";
import { percentile } from "../../support/cases/statistics.ts";
import { buildRows, type LeadRow, sourcePicker, toLead } from "../pages/lead-rows.ts";
import { limit } from "../pages/read-pages.ts";
import { number } from "../report.ts";
import { psql, storeInPostgres, storeLocally } from "./databases.ts";

/** How many rounds read a page from all servers in turn, and how many times in each round. */
const [rounds, reads] = [10, 20];

/** Times pages of this service and of a Postgres, in which it replaces the tables `bench_leads` and `bench_keys`. */
export async function comparePostgres(address: string, sizes: readonly number[]) {
  const directory = await mkdtemp(join(tmpdir(), "bench-postgres-"));
  const options = { dataDirectory: directory, streams: false, log: () => {} };
  const empty = await startLocal(options);
  const describe = new DescribeTableCommand({ TableName: empty.tableName });
  const { Table } = await engineClient(empty.dynamodbEndpoint).send(describe);
  await writeFile(join(directory, "schema.json"), JSON.stringify([{ Table }]));
  await empty.stop();
  const compared = [];
  for (const leads of sizes) {
    const rows = buildRows(leads, sourcePicker(5));
    const apiKey = await storeLocally(rows, directory, empty.tableName);
    storeInPostgres(rows, apiKey, address);
    const local = await startLocal({ ...options, templateDirectory: join(directory, "stack") });
    const { server, url } = await startServer(address, local);
    for (const cells of await compareLists(rows, url, apiKey)) compared.push({ leads, ...cells });
    server.disconnect();
    await local.stop();
  }
  await rm(directory, { recursive: true });
  psql(address, "DROP TABLE bench_leads, bench_keys");
  return compared;
}

/** Starts the common server, whose handlers call the engine of a local run. */
async function startServer(address: string, local: Awaited<ReturnType<typeof startLocal>>) {
  const env = {
    ...{ ...process.env, POSTGRES: address, TABLE_NAME: local.tableName, AWS_REGION: "local" },
    ...{ AWS_ENDPOINT_URL_DYNAMODB: local.dynamodbEndpoint, RATE_LIMIT_REQUESTS: "6000" },
    ...{ AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
  };
  // The handlers log each request.
  const stdio = ["ignore", "ignore", "inherit", "ipc"] as const;
  const server = fork(join(import.meta.dirname, "server.ts"), { env, stdio: [...stdio] });
  const [url] = (await once(server, "message")) as [string];
  return { server, url };
}

/** Compares the first and the middle page of all leads, and of the leads of one source. */
async function compareLists(rows: readonly LeadRow[], server: string, apiKey: string) {
  const compared = [];
  for (const source of [undefined, rows[0]?.source]) {
    const listed = rows.filter((row) => source === undefined || row.source === source);
    const filter = source ? `&source=${source}` : "";
    for (const page of [1, Math.ceil(listed.length / limit / 2)]) {
      const end = listed.length - (page - 1) * limit;
      const urls = {
        service: `${server}/service?page=${page}${filter}`,
        postgres: `${server}/postgres?page=${page}${filter}`,
        cursor: `${server}/postgres?after=${listed[end]?.id ?? "~"}${filter}`,
      };
      const data = listed
        .slice(end - limit, end)
        .toReversed()
        .map(toLead);
      const pagination = { page, limit, total: listed.length };
      const { service, postgres, cursor } = await time(urls, apiKey, { data, pagination });
      compared.push({
        list: source ? "one of five sources" : "all",
        page: page === 1 ? "first" : "middle",
        "this service": number(service),
        Postgres: number(postgres),
        ratio: service / postgres,
        cursor: number(cursor),
      });
    }
  }
  return compared;
}

/**
 * Reads a page from all servers in turn: from this service and Postgres, and the same rows from Postgres by a cursor, without a
 * total.
 *
 * @returns times in milliseconds: the median of the fastest round, because no machine is idle
 * @throws AssertionError if a response is not the expected one
 */
async function time(
  urls: Readonly<Record<"service" | "postgres" | "cursor", string>>,
  apiKey: string,
  { data, pagination }: { readonly data: object; readonly pagination: object },
) {
  const headers = { authorization: `Bearer ${apiKey}`, "accept-encoding": "identity" };
  const least = { service: Infinity, postgres: Infinity, cursor: Infinity };
  for (let round = 0; round < rounds; round++) {
    for (const [name, url] of Object.entries(urls)) {
      const read = async () => (await fetch(url, { headers })).json();
      // A connection may have been closed meanwhile.
      await read().catch(() => {});
      const times = [];
      for (let n = 0; n < reads; n++) {
        const start = performance.now();
        const body = await read();
        times.push(performance.now() - start);
        deepStrictEqual(body, name === "cursor" ? { data } : { data, pagination });
      }
      least[name as keyof typeof least] = Math.min(least[name as keyof typeof least], percentile(times, 0.5));
    }
  }
  return least;
}
