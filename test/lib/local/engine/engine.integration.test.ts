import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  CreateTableCommand,
  DescribeTimeToLiveCommand,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openDataDirectory } from "../../../../lib/local/engine/data-directory.ts";
import { engineClient } from "../../../../lib/local/engine/dynamodb-client.ts";
import { engineBinary, enginePorts, startEngine } from "../../../../lib/local/engine/engine.ts";
import { prepareTable } from "../../../../lib/local/engine/table-setup.ts";
import { UserError } from "../../../../lib/user-error.ts";
import { stack } from "../../../support/stack/role-check.ts";
import { temporaryDirectory } from "../../../support/stack/temporary-directory.ts";
import { canSeeProcesses, findEngines } from "../support/linux.ts";
import { isOpen } from "../support/process.ts";

const engineModule = new URL("../../../../lib/local/engine/engine.ts", import.meta.url).href;

const definition = { ...stack.table, input: { ...stack.table.input, TableName: "probes" } };

/** Starts an engine, unless `settings` has ports on any free one. */
async function start(settings: Partial<Parameters<typeof startEngine>[0]> = {}) {
  const engine = await startEngine({ ports: [0], ...settings });
  onTestFinished(() => engine.stop());
  const client = engineClient(engine.endpoint);
  onTestFinished(() => client.destroy());
  return { ...engine, client };
}

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("the embedded engine", () => {
  test.each([
    [
      "a write",
      "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = ?",
    ],
    [
      "a read of a stream",
      "SELECT event_name, keys_json, new_image, old_image, sequence_number, created_at, user_identity FROM _stream_records WHERE table_name = ? AND shard_id = ? AND CAST(sequence_number AS INTEGER) > ? ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT ?",
    ],
  ])("does not scan a whole stream for %s", async (_what, query) => {
    const directory = await temporaryDirectory();
    await start({ directory });
    // The engine's queries, as they are in its binary.
    const binary = (await readFile(engineBinary(), "latin1"))
      .replaceAll(/\?\d/g, "?")
      .replaceAll(/\s+/g, " ");
    expect(binary).toContain(query);
    using database = new DatabaseSync(join(directory, "dynamodb.sqlite"), { readOnly: true });
    const [step] = database.prepare(`EXPLAIN QUERY PLAN ${query}`).all().slice(-1);
    expect(step).toMatchObject({ detail: expect.stringContaining("stream_by_number (table_name=?") });
  });

  test("is rejected if its table has other keys, other indexes or another stream", async () => {
    const { client, endpoint } = await start();
    for (const [i, [own, other]] of [
      ['"pk","AttributeType":"S"', '"pk","AttributeType":"N"'],
      ['"by-status"', '"by-other"'],
      ['"NEW_AND_OLD_IMAGES"', '"KEYS_ONLY"'],
    ].entries()) {
      const input = { ...definition.input, TableName: `probes-${i}` };
      expect(JSON.stringify(input)).toContain(own);
      const changed = JSON.stringify(input).replaceAll(`${own}`, `${other}`);
      await client.send(new CreateTableCommand(JSON.parse(changed)));
      const prepared = prepareTable({ ...definition, input }, endpoint);
      await expect(prepared).rejects.toThrow("other keys, indexes or another stream");
    }
  });

  test("listens on a port that no web page can reach, and each engine has a port of its own", async () => {
    const engines = [await start({ ports: enginePorts }), await start({ ports: enginePorts })];
    const ports = engines.map(({ endpoint }) => Number(new URL(endpoint).port));
    expect(new Set(ports).size).toBe(2);
    expect(enginePorts).toEqual(expect.arrayContaining(ports));
  });

  test("reports why it did not start", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "dynamodb.sqlite"));
    await expect(start({ directory })).rejects.toThrow(/^The embedded DynamoDB did not start: .*database/i);
  });

  test("ends with the process that started it, even after kill -9, and the next run has every acknowledged write", async () => {
    const directory = await temporaryDirectory();
    const file = join(directory, "dynamodb.sqlite");
    const { child, endpoint } = await startInProcess(directory);
    expect(isOpen(file)).toBe(true);
    await expect(openDataDirectory(directory)).rejects.toThrow(/^Another `npm start` is running/);
    const doomed = engineClient(endpoint);
    await prepareTable(definition, endpoint);
    const { TimeToLiveDescription } = await doomed.send(
      new DescribeTimeToLiveCommand({ TableName: "probes" }),
    );
    expect(TimeToLiveDescription).toEqual({ AttributeName: "expiresAt", TimeToLiveStatus: "ENABLED" });
    const Item = { pk: { S: "LEAD#a" }, sk: { S: "acknowledged" } };
    await doomed.send(new PutItemCommand({ TableName: "probes", Item }));
    doomed.destroy();
    child.kill("SIGKILL");
    await once(child, "exit");
    const data = await openDataDirectory(directory);
    onTestFinished(data.unlock);
    const print = vi.spyOn(console, "error");
    const { client } = await start({ directory });
    const kept = await client.send(new GetItemCommand({ TableName: "probes", Key: Item }));
    expect(kept.Item).toEqual(Item);
    expect(print).not.toHaveBeenCalled();
    if (canSeeProcesses) expect(findEngines(file)).toHaveLength(1);
  });
});

/** Starts an engine in a process of its own, which also opens the data directory. */
async function startInProcess(directory: string) {
  const script = `import { openDataDirectory } from ${JSON.stringify(new URL("data-directory.ts", engineModule))};
    import { startEngine } from ${JSON.stringify(engineModule)};
    const directory = ${JSON.stringify(directory)};
    const data = await openDataDirectory(directory);
    setInterval(() => data, 60_000);
    const { endpoint } = await startEngine({ directory });
    console.log(endpoint);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [endpoint] = (await once(child.stdout, "data")) as [Buffer];
  return { child, endpoint: endpoint.toString().trim() };
}

test("an unreachable endpoint is a UserError", async () => {
  const endpoint = "http://127.0.0.1:1";
  await expect(prepareTable(definition, endpoint)).rejects.toThrow(UserError);
});
