import { execFile } from "node:child_process";
import { createWriteStream, rmSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip } from "node:zlib";
import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { createApp } from "../../../lib/app.ts";
import { startEngine } from "../../../lib/local/engine/engine.ts";
import { engineBinary } from "../../../lib/local/engine/engine-process.ts";
import { readStack } from "../../../lib/local/template/template.ts";
import type { Population } from "./population.ts";

const tableName = "bench-pages";

/** The benchmark's engine, which holds only the populations' rows. */
export interface World {
  stop(): Promise<void>;
}

/** Creates the table as the stack defines it, loads the rows and points the SDK at it. */
export async function startWorld(populations: readonly Population[]): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "bench-pages-"));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once("exit", remove);
  // The modules that build items read the table's name when they are loaded.
  process.env.TABLE_NAME = tableName;
  await importRows(directory, await readTable(directory), populations);
  const engine = await startEngine({ directory, log: console.error, onExit: engineEnded });
  process.env.AWS_ENDPOINT_URL_DYNAMODB = engine.endpoint;
  process.env.AWS_REGION = "local";
  process.env.AWS_ACCESS_KEY_ID = "local";
  process.env.AWS_SECRET_ACCESS_KEY = "local";
  return {
    async stop() {
      await engine.stop();
      remove();
      process.off("exit", remove);
    },
  };
}

function engineEnded() {
  console.error("The embedded DynamoDB ended before the benchmark did.");
  process.exit(1);
}

async function readTable(directory: string): Promise<CreateTableCommandInput> {
  const outdir = join(directory, "cdk.out");
  (await createApp({ stage: "dev", outdir })).synth();
  // The benchmark delivers the changes to the maintainer itself.
  const { StreamSpecification, ...input } = (await readStack(outdir)).table.input;
  return { ...input, TableName: tableName };
}

/** Creates the database file from an export, which is many times faster than writing the rows. */
async function importRows(
  directory: string,
  table: CreateTableCommandInput,
  populations: readonly Population[],
): Promise<void> {
  const source = join(directory, "export");
  const schema = join(directory, "schema.json");
  const data = join(source, tableName, "data");
  await mkdir(data, { recursive: true });
  await writeFile(schema, JSON.stringify({ Table: table }));
  for (const population of populations) {
    const file = createWriteStream(join(data, `${population.account}.json.gz`));
    await pipeline(Readable.from(exportLines(population)), createGzip({ level: 1 }), file);
  }
  const output = join(directory, "dynamodb.sqlite");
  const importing = promisify(execFile)(engineBinary(), [
    "import",
    ...["--source", source],
    ...["--schema", schema],
    ...["--output", output],
  ]);
  const end = () => importing.child.kill();
  process.once("exit", end);
  await importing;
  process.off("exit", end);
  await rm(source, { recursive: true });
}

async function* exportLines(population: Population): AsyncGenerator<string> {
  const { rowItem } = await import("./items.ts");
  const rows = population.matching({});
  for (let from = 0; from < rows.length; from += 1000) {
    const lines = rows
      .slice(from, from + 1000)
      .map((row) => `${JSON.stringify({ Item: marshall(rowItem(population.account, row)) })}\n`);
    yield lines.join("");
  }
}
