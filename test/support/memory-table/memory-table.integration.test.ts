import { randomUUID } from "node:crypto";
import {
  type DynamoDBDocumentClient,
  GetCommand,
  NumberValue,
  PutCommand,
  paginateScan,
} from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { accountsCommand } from "../../../lib/ops/accounts/accounts-command.ts";
import { keysCommand } from "../../../lib/ops/keys/keys-command.ts";
import { leadsCommand } from "../../../lib/ops/leads/leads-command.ts";
import { Pace } from "../../../shared/dynamodb/pace.ts";
import {
  createTableClient,
  type Item,
  tableName as TableName,
} from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { repair } from "../../../shared/pages/audit/repair.ts";
import { verify } from "../../../shared/pages/audit/verify.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { addUsed } from "../../../shared/rate-limit/used-requests.ts";
import { skipWaits } from "../cases/skipped-waits.ts";
import { runCommand } from "../commands/command.ts";
import { filePath, leadFile } from "../commands/lead-files.ts";
import { call } from "../requests/call.ts";
import { report, setStatus } from "../requests/requests.ts";
import { smallLimits } from "../requests/small-limits.ts";
import { aroundCalls, smallPages } from "../tables/conditions.ts";
import { storedLead } from "../tables/stored.ts";
import { put, remove, tableItems } from "../tables/table-items.ts";
import { MemoryTable } from "./memory-table.ts";

/** The response of a call in a form that can be compared. */
function toComparable({ Responses, ConsumedCapacity, ...answer }: Record<string, unknown>) {
  const { $metadata, ItemCollectionMetrics, ...output } = answer;
  const consumed = [ConsumedCapacity ?? []].flat() as { CapacityUnits: number }[];
  // The items of a batch are in no particular order, the items of a transaction in the order of its keys.
  const batches = Array.isArray(Responses)
    ? Responses
    : Object.values((Responses ?? {}) as Record<string, Item[]>).map((items) => new Set(items));
  // The engine returns a `Buffer` as bytes.
  return structuredClone({ output, batches, units: consumed.map(({ CapacityUnits }) => CapacityUnits) });
}

function toComparableError({
  name,
  Item,
  CancellationReasons = [],
}: Item & { readonly CancellationReasons?: readonly Item[] }) {
  return { name, Item, reasons: CancellationReasons.map(({ Code, Item }) => ({ Code, Item })) };
}

const outcome = (call: Promise<Record<string, unknown>>) => call.then(toComparable, toComparableError);

/** Compares the response to each call of the engine with that of a table in memory. @returns the names of the commands */
function compareCalls() {
  const memory = new MemoryTable();
  const seen = new Set<string>();
  const calls = aroundCalls(async (command, send) => {
    // Descriptions of tables are not compared, and the next test compares scans.
    if (/^(?:Scan|Describe|List)/.test(command.constructor.name)) return send(command);
    command.input.ReturnConsumedCapacity = "TOTAL";
    const expected = outcome(memory.send(command));
    const sent = send(command);
    const answer = await outcome(sent);
    expect.soft(await expected, JSON.stringify(command)).toEqual(answer);
    seen.add(command.constructor.name);
    return sent;
  });
  return Object.assign(calls, { seen });
}

test("the memory table answers each call of routes, commands, maintainers and audits like the embedded engine", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  skipWaits();
  using compared = compareCalls();
  const account = "acme";
  const on = ["--account", account];
  const keyed = { account, headers: { "idempotency-key": randomUUID() } };
  const ada = { name: "Ada", email: "ada@example.com", externalId: "1", source: "web", metadata: { a: "b" } };
  const moved = { ...ada, score: 1, addresses: { sms: null, web: ["ada"] } };

  const named = { ...ada, addresses: { sms: ["1"] } };
  const { id: leadId } = (await call("create-lead", { ...keyed, body: named })).body;
  await call("create-lead", { ...keyed, body: ada });
  await call("create-lead", { account, body: ada });
  await call("create-lead", { account, query: "ifExists=update", body: moved });
  for (const channel of ["web", "sms", "web"]) {
    const message = { ...keyed, body: { leadId, channel, message: "x".repeat(2000) } };
    await call("send-message", { ...message, headers: { "idempotency-key": channel } });
    await call("send-message", { account, body: message.body });
  }
  const send = async (direction: string, channel = "sms", headers = {}) => {
    const body = { leadId, channel, direction, message: "\u{1F600}".repeat(100) };
    return (await call("send-message", { account, headers, body })).body;
  };
  const { id, conversationId } = await send("outbound");
  for (const direction of ["inbound", "inbound", "outbound", "inbound"]) await send(direction);
  await send("inbound", "whatsapp", { "idempotency-key": "whatsapp" });
  for (const delivery of ["failed", "sent", "read"])
    await report(account, { id, conversationId }, { delivery, providerId: "1" });
  const { conversationId: ended } = await send("inbound", "web");
  await setStatus(account, ended, "closed", { "idempotency-key": "ended" });
  for (const status of ["active", "closed"]) await setStatus(account, ended, status);
  await send("inbound", "web");
  expect((await setStatus(account, ended, "active")).status).toBe(409);
  const last = (await call("list-conversations", { account })).body.data[0]?.lastMessageAt;

  for (const sk of ["1", "1", "1", "2"])
    await addUsed({ pk: `RATE#${account}`, sk }, { count: 1, requests: 2, expiresAt: 1 });

  const { printed } = await runCommand(keysCommand(), "issue", ...on, "--json");
  const { keyId } = JSON.parse(String(printed[0]));
  await runCommand(keysCommand(), "revoke", ...on, "--key", keyId, "--yes");
  for (const requests of ["5", "stage", "5"])
    await runCommand(accountsCommand(), "set-limit", ...on, "--requests", requests);

  const leads = Array.from({ length: 60 }, (_, n) => {
    const id = newId("lead", Date.now() - 60_000 + n);
    const fields = { status: n % 3 ? "new" : "booked", source: n % 4 ? "web" : "ads" } as const;
    return storedLead(id, account, { name: "x".repeat(40 * n), ...fields });
  });
  for (const lead of leads) await put(lead);
  const owner = { account, list: countedLists.lead };
  const maintenance = { deadline: Number.POSITIVE_INFINITY, limits: smallLimits };
  const check = () => verify(owner, { pace: new Pace(1e9) });
  await repair(owner, [], maintenance);
  await put({ ...leads[7], status: "qualified", byStatus: `LEAD#${account}#qualified` });
  await remove(leads[9] ?? {});
  await remove(treeKey({ ...owner, labelKey: `LEAD#${account}#ads` }, "root"));
  await repair(owner, (await check()).findings, maintenance);
  expect((await check()).findings).toEqual([]);

  const [createdAfter, createdBefore] = ["2026-01-01T00:00:00Z", new Date(Date.now() - 59_970).toISOString()];
  for (const filter of ["", "status=booked", "source=web", "status=new&source=web", "email=ada@example.com"])
    for (const window of ["", `&createdAfter=${createdAfter}&createdBefore=${createdBefore}`])
      for (const page of ["", "&limit=7&page=4", "&sort=createdAt&limit=7&page=2"])
        await call("list-leads", { account, query: `${filter}${window}${page}` });
  for (const query of ["address=web:ada", `updatedAfter=${createdAfter}&sort=updatedAt`, "sort=-updatedAt"])
    await call("list-leads", { account, query: `${query}&limit=7` });
  const [after, before] = [`lastMessageAfter=${createdAfter}`, `lastMessageBefore=${last}`];
  for (const filter of ["", "channel=web", `leadId=${leadId}`, after, before, `${after}&${before}`])
    for (const sort of ["-createdAt", "lastMessageAt", "-lastMessageAt"])
      await call("list-conversations", { account, query: `${filter}&sort=${sort}&limit=1` });
  for (const window of ["", `&awaitingReplyAfter=${createdAfter}&awaitingReplyBefore=${last}`])
    for (const filter of ["", "&channel=web", `&leadId=${leadId}`])
      await call("list-conversations", { account, query: `awaitingReply=true${filter}${window}&limit=1` });

  const file = await leadFile("name,email,source\nGrace,g@example.com,web\n");
  const [csv, jsonl] = [filePath(".csv"), filePath(".jsonl")];
  using _ = smallPages();
  for (const [command, ...args] of [
    [leadsCommand(), "import", file, ...on],
    [leadsCommand(), "import", file, ...on, "--update"],
    [leadsCommand(), "show", ...on, "--email", "G@example.com"],
    [leadsCommand(), "export", ...on, "--output", csv],
    [accountsCommand(), "copy", ...on, "--from-table", TableName, "--to-account", "other"],
    [accountsCommand(), "export", "--account", "other", "--output", jsonl],
    [accountsCommand(), "list"],
    [leadsCommand(), "erase", ...on, "--lead", leadId, "--yes"],
    [accountsCommand(), "erase", ...on, "--yes", "--cache-seconds", "0"],
  ] as const)
    expect([args, (await runCommand(command, ...args)).failure]).toEqual([args, undefined]);
  const left = [...(await tableItems()).keys()].filter((key) => key.includes(`#${account}`));
  expect(left.sort()).toEqual([`COUNT#${account}#CONVERSATION root`, `COUNT#${account}#LEAD root`]);

  const reads = ["BatchGet", "Get", "Query", "TransactGet"];
  const writes = ["Delete", "Put", "TransactWrite", "Update"];
  expect([...compared.seen]).toEqual(
    expect.arrayContaining([...reads, ...writes].map((name) => `${name}Command`)),
  );
});

/** What a scan finds in the given number of segments, in any order. */
async function scanned(client: DynamoDBDocumentClient, segments: number) {
  const found: Item[] = [];
  for (let Segment = 0; Segment < segments; Segment++) {
    const pages = paginateScan(
      { client, pageSize: 3 },
      {
        ...{ TableName, Segment, TotalSegments: segments, ConsistentRead: true },
        FilterExpression: "begins_with(sk, :sk) OR byStatus = :status",
        ExpressionAttributeValues: { ":sk": "02", ":status": "S#1" },
      },
    );
    for await (const { Items = [] } of pages) found.push(...Items);
  }
  return new Map(found.map((item) => [`${item.pk} ${item.sk}`, item]));
}

test("scans in any number of segments find the same items as the engine's, and both tables reject the same keys", async () => {
  const memory = Object.assign(createTableClient({}), { send: new MemoryTable().send });
  // Not the client of the functions, whose calls would time out on a busy machine.
  const engine = createTableClient({});
  for (let n = 0; n < 20; n++) {
    const values = { large: NumberValue.from("9".repeat(29)), names: new Set(["one", "two"].slice(n % 2)) };
    const Item = { pk: `SCAN#${n % 4}`, sk: `0${n}`, byStatus: `S#${n % 3}`, ...values };
    for (const table of [memory, engine]) await table.send(new PutCommand({ TableName, Item }));
  }
  for (const segments of [1, 4]) {
    const found = await scanned(memory, segments);
    expect(found.size).toBe(8);
    const ofEngine = [...(await scanned(engine, segments))].filter(([key]) => key.startsWith("SCAN#"));
    expect(found).toEqual(new Map(ofEngine));
  }
  const error = { name: "ValidationException" };
  for (const sk of [5, "x".repeat(1025)]) {
    const read = new GetCommand({ TableName, Key: { pk: "SCAN#1", sk } });
    for (const table of [memory, engine]) await expect(table.send(read)).rejects.toMatchObject(error);
  }
});
