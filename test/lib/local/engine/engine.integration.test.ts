import { readFile, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CreateTableCommand, DescribeTimeToLiveCommand, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test } from "vitest";
import { UserError } from "../../../../lib/errors.ts";
import { lockDataDirectory } from "../../../../lib/local/engine/data-lock.ts";
import { engineClient } from "../../../../lib/local/engine/dynamodb-client.ts";
import { startEngine } from "../../../../lib/local/engine/engine.ts";
import {
  endLeftEngine,
  engineBinary,
  isEngineOn,
  signalProcess,
  spawnEngine,
} from "../../../../lib/local/engine/engine-process.ts";
import { ensureTable } from "../../../../lib/local/engine/table-setup.ts";
import { parseStack } from "../../../../lib/local/template/template.ts";
import { openersOf } from "../support/process.ts";
import { createTemplate, temporaryDirectory } from "../support/stack.ts";

const definition = parseStack("stack", createTemplate(), () => ({ directory: "/code", name: "probe" })).table;

async function start(directory?: string) {
  const log: string[] = [];
  const engine = await startEngine({
    directory,
    log: (line) => log.push(line),
    onExit: () => log.push("ended"),
  });
  onTestFinished(() => engine.stop());
  const client = engineClient(engine.endpoint);
  onTestFinished(() => client.destroy());
  return { ...engine, log, client };
}

const dataDirectory = async () => realpath(await temporaryDirectory());

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("the embedded engine", () => {
  test("keeps its data from one start to the next, and creates the table once", async () => {
    const directory = await dataDirectory();
    const first = await start(directory);
    await ensureTable(first.client, definition, first.endpoint);
    const ttl = await first.client.send(new DescribeTimeToLiveCommand({ TableName: "probes" }));
    expect(ttl.TimeToLiveDescription).toMatchObject({
      AttributeName: "expiresAt",
      TimeToLiveStatus: "ENABLED",
    });
    await first.stop();
    expect(openersOf(join(directory, "dynamodb.sqlite"))).toEqual([]);

    const second = await start(directory);
    await ensureTable(second.client, definition, second.endpoint);
    const { TableNames } = await second.client.send(new ListTablesCommand());
    expect(TableNames).toEqual(["probes"]);
    expect([...first.log, ...second.log]).toEqual([]);
  });

  test.each([
    [
      "a write",
      "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = ?",
    ],
    [
      "a look at a stream",
      "SELECT event_name, keys_json, new_image, old_image, sequence_number, created_at, user_identity FROM _stream_records WHERE table_name = ? AND shard_id = ? AND CAST(sequence_number AS INTEGER) > ? ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT ?",
    ],
  ])("does not read a whole stream for %s", async (_what, query) => {
    const directory = await dataDirectory();
    await start(directory);
    // The engine's own queries, as its binary has them.
    const binary = (await readFile(engineBinary(), "latin1"))
      .replaceAll(/\?\d/g, "?")
      .replaceAll(/\s+/g, " ");
    expect(binary).toContain(query);
    using database = new DatabaseSync(join(directory, "dynamodb.sqlite"), { readOnly: true });
    const [step] = database.prepare(`EXPLAIN QUERY PLAN ${query}`).all().slice(-1);
    expect(step).toMatchObject({ detail: expect.stringContaining("stream_by_number (table_name=?") });
  });

  test("two that create the table at once both succeed", async () => {
    const { client, endpoint } = await start();
    await Promise.all([1, 2, 3].map(() => ensureTable(client, definition, endpoint)));
  });

  test("refuses a table with other keys or indexes", async () => {
    const { client, endpoint } = await start();
    const { GlobalSecondaryIndexes, ...input } = definition.input;
    const AttributeDefinitions = input.AttributeDefinitions?.slice(0, 1);
    await client.send(new CreateTableCommand({ ...input, AttributeDefinitions }));
    await expect(ensureTable(client, definition, endpoint)).rejects.toThrow("other keys or indexes");
  });

  test("says so when it ends by itself", async () => {
    const directory = await dataDirectory();
    const { log } = await start(directory);
    const pid = Number(await readFile(join(directory, "engine.pid"), "utf8"));
    signalProcess(pid, "SIGKILL");
    await expect.poll(() => log).toEqual(["ended"]);
  });

  test("that was left behind is ended before the file is opened again", async () => {
    const directory = await dataDirectory();
    const file = join(directory, "dynamodb.sqlite");
    const args = ["--port", "0", "--db-path", file];
    const { pid = 0 } = await spawnEngine(args, join(directory, "engine.pid"));
    await expect.poll(() => openersOf(file)).toEqual([pid]);
    const { log } = await start(directory);
    expect(isEngineOn(pid, file)).toBe(false);
    expect(log).toEqual([`Ended the DynamoDB that the last run left behind (process ${pid}).`]);
    expect(openersOf(file)).toHaveLength(1);
  });

  test("never starts when the go-ahead does not come", async () => {
    const directory = await dataDirectory();
    const file = join(directory, "dynamodb.sqlite");
    // A directory in the place of the record: writing it fails, as it does for a process that dies just then.
    await expect(spawnEngine(["--port", "0", "--db-path", file], directory)).rejects.toThrow();
    expect(openersOf(file)).toEqual([]);
  });

  test("is told from another process that has its recorded id now", async () => {
    const directory = await dataDirectory();
    const pidFile = join(directory, "engine.pid");
    for (const content of [String(process.pid), "nonsense", "1", ""]) {
      await writeFile(pidFile, content);
      expect(await endLeftEngine(pidFile, join(directory, "dynamodb.sqlite"))).toBeUndefined();
    }
  });
});

test("a data directory has one holder at a time", async () => {
  const directory = await dataDirectory();
  const unlock = await lockDataDirectory(directory);
  await expect(lockDataDirectory(directory)).rejects.toThrow(UserError);
  unlock();
  const again = await lockDataDirectory(directory);
  again();
});

test("an endpoint where nothing answers is told in a sentence", async () => {
  const endpoint = "http://127.0.0.1:1";
  await expect(ensureTable(engineClient(endpoint), definition, endpoint)).rejects.toThrow(UserError);
});
