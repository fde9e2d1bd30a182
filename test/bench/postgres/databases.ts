import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { marshall } from "@aws-sdk/util-dynamodb";
import { engineBinary } from "../../../lib/local/engine/engine.ts";
import { writeLimit } from "../../../lib/ops/accounts/accounts-settings.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { Account } from "../pages/account.ts";
import { type LeadRow, toLead } from "../pages/lead-rows.ts";
import { installClock } from "../pages/metered-table.ts";

const account = "bench";

/** Each list has an index in its order. */
const schema = `
  SET client_min_messages = warning;
  DROP TABLE IF EXISTS bench_leads, bench_keys;
  CREATE TABLE bench_keys (hash bytea PRIMARY KEY, account text);
  CREATE TABLE bench_leads (account text, id text COLLATE "C", status text, source text, name text, email text,
    tags text[], score int, created_at timestamptz, updated_at timestamptz, PRIMARY KEY (account, id));
  CREATE INDEX ON bench_leads (account, source, id);`;

/** Replaces the benchmark's tables in a Postgres by tables of these leads and a key. */
export function storeInPostgres(rows: readonly LeadRow[], apiKey: string, address: string): void {
  const lines = rows.map(toLead).map(({ id, status, source, name, email, createdAt }) => {
    return [account, id, status, source, name, email, "{import}", 0, createdAt, createdAt].join("\t");
  });
  const hash = createHash("sha256").update(apiKey).digest("hex");
  const script = `${schema}
    INSERT INTO bench_keys VALUES ('\\x${hash}', '${account}');
    COPY bench_leads FROM STDIN;\n${lines.join("\n")}\n\\.\nVACUUM ANALYZE;`;
  psql(address, script);
}

/** Runs a script in a Postgres. */
export const psql = (address: string, input: string) =>
  execFileSync("psql", ["-Xq", "-v", "ON_ERROR_STOP=1", address], { input });

/** Counts leads in memory, and imports the leads and their counts as an export of DynamoDB. @returns an API key */
export async function storeLocally(rows: LeadRow[], directory: string, tableName: string): Promise<string> {
  const { now } = Date;
  installClock();
  const counted = new Account(account, rows);
  await counted.deliver();
  const { apiKey } = await issueApiKey(account);
  // A run makes more reads than an account may by default.
  await writeLimit(account, 1_000_000);
  Date.now = now;
  const source = join(directory, "export");
  await mkdir(join(source, tableName, "data"), { recursive: true });
  const items = counted.memory.items();
  const lines = Readable.from(items).map((item) => `${JSON.stringify({ Item: marshall(item) }, toBase64)}\n`);
  // The lines of a million leads are together longer than a string can be.
  await pipeline(lines, createGzip(), createWriteStream(join(source, tableName, "data", "all.json.gz")));
  const [schema, output] = [join(directory, "schema.json"), join(directory, "dynamodb.sqlite")];
  // The engine of the last run was killed, and its write-ahead log would be replayed into the new file.
  for (const end of ["-wal", "-shm"]) await rm(`${output}${end}`, { force: true });
  const args = ["import", "--source", source, "--schema", schema, "--output", output, "--force"];
  execFileSync(engineBinary(), args, { stdio: "ignore" });
  return apiKey;
}

/** Replaces binary values by base64, because JSON has no binary values. */
function toBase64(this: Record<string, unknown>, name: string, value: unknown) {
  const bytes = this[name];
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString("base64") : value;
}
