import { randomUUID } from "node:crypto";
import { ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { beginErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { issueApiKey, listApiKeys, revokeApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { eraseCommand } from "../../../../lib/ops/leads/leads-erase.ts";
import { connect, readConnection, readSenderAccount } from "../../../../shared/channels/connections.ts";
import { receiveEntry } from "../../../../shared/channels/receive-entry.ts";
import { storeDelivery } from "../../../../shared/channels/store-delivery.ts";
import { findApiKey } from "../../../../shared/domain/api-keys.ts";
import { accountKey, channelKey } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { readItem } from "../../../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { runCommand } from "../../../support/commands/command.ts";
import { call } from "../../../support/requests/call.ts";
import { aLead, aMessage, report } from "../../../support/requests/requests.ts";
import { copyTable, useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { put, tableItems } from "../../../support/tables/table-items.ts";
import { copy } from "./support/copy.ts";

const memory = useTablesOfCommands();
skipWaits();
const empty = memory.snapshot();
const [whatsapp, instagram] = ["106540352242922", "17841400000000000"];
const connectedAt = "2026-01-01T00:00:00.000Z";

let account: string;
let source: typeof empty;
beforeEach(() => {
  account = randomUUID();
  source = empty;
  memory.restore(empty);
});

/** Does something in the source table of a copy. @returns the name of the table */
async function inSource(work: () => Promise<unknown>): Promise<string> {
  const here = memory.snapshot();
  memory.restore(source);
  await work();
  source = memory.snapshot();
  const name = copyTable();
  memory.restore(here);
  return name;
}

describe("a request takes effect once, even if it is retried after its account was copied", () => {
  const create = (key: string, to = account, fields = {}, query = "") => {
    const body = { name: "Ada", externalId: key, ...fields };
    return call("create-lead", { account: to, headers: { "idempotency-key": key }, query, body });
  };

  test.each(["the same", "another"])("under %s name, also if it is newer than the copy", async (name) => {
    const to = name === "another" ? randomUUID() : account;
    const again = (from: string, ...args: string[]) => copy(account, from, "--to-account", to, ...args);
    await again(await inSource(() => create("old")));
    const record = (await tableItems()).get(`IDEMPOTENCY#${to}#old create-lead`);
    const from = await inSource(async () => {
      await create("new");
      await put({ ...record, pk: `IDEMPOTENCY#${account}#expired`, expiresAt: 1 });
      await put({ ...record, pk: `IDEMPOTENCY#${account}#reused`, fingerprint: "second" });
    });
    // This record has expired, but DynamoDB has not deleted it yet.
    await put({ ...record, pk: `IDEMPOTENCY#${to}#reused`, expiresAt: 1 });
    expect((await again(from, "--dry-run")).output).toMatchObject({ stored: 2, replaced: 1 });
    expect((await again(from)).output).toMatchObject({ stored: 2, replaced: 1, left: 0 });
    expect((await again(from)).output).toMatchObject({ stored: 0, replaced: 0 });
    const after = await tableItems();
    expect(after.get(`IDEMPOTENCY#${to}#old create-lead`)).toEqual(record);
    expect(after.get(`IDEMPOTENCY#${to}#reused create-lead`)).toMatchObject({ fingerprint: "second" });
    expect(after.has(`IDEMPOTENCY#${to}#expired create-lead`)).toBe(false);
    const replay = { status: 201, headers: { "idempotency-replayed": "true" } };
    for (const key of ["old", "new"]) expect(await create(key, to)).toMatchObject(replay);
  });

  test("a retry does not bring back a lead that was erased in either table, or its messages", async () => {
    const ids: string[] = [];
    const rename = (externalId: string) =>
      create(`${externalId}-2`, account, { externalId, name: "Grace" }, "ifExists=update");
    const from = await inSource(async () => {
      for (const key of ["there", "here"]) {
        const { id } = (await create(key)).body;
        await rename(key);
        const message = await aMessage(account, id, "whatsapp", { message: "Secret" });
        await report(account, message, { delivery: "sent" }, { "idempotency-key": key });
        ids.push(id);
      }
      // This erasure has been interrupted.
      await beginErasure(account, ids[0] ?? "", new Pace());
    });
    await copy(account, from);
    await runCommand(eraseCommand(), "--account", account, "--lead", ids[1] ?? "", "--yes");
    expect(await copy(account, from)).toMatchObject({ code: 0, output: { stored: 0, erased: 7, left: 0 } });
    for (const key of ["there", "here"]) {
      const retries = [await create(key), await rename(key)];
      for (const { body } of retries) expect(body).toMatchObject({ code: "lead_not_found" });
    }
    expect(JSON.stringify([...memory.items()])).not.toMatch(/Secret|Grace/);
  });
});

const givenUp = { delivery: "failed", deliveryError: "Given up: The Graph API has not responded." } as const;
const sent = { delivery: "sent", providerId: "wamid.1" } as const;
const read = { delivery: "read", providerId: "wamid.2" } as const;

test.each([
  ["sent there", sent, undefined, sent],
  ["sent there and read here", sent, read, read],
  ["given up there and sent here", givenUp, sent, sent],
  ["sent there and given up here", sent, givenUp, sent],
])("a message that is %s gets the more advanced state, even without --replace", async (_, there, here, expected) => {
  let id = "";
  let conversationId = "";
  const from = await inSource(async () => {
    ({ id, conversationId } = await aMessage(account, (await aLead(account)).id));
  });
  await copy(account, from);
  if (here) await storeDelivery(account, { id, conversationId, ...here });
  const later = await inSource(() => storeDelivery(account, { id, conversationId, ...there }));
  expect((await copy(account, later)).output).toMatchObject({ stored: 0, left: 0 });
  const item = (await tableItems()).get(`MESSAGE#${account}#${conversationId} ${id}`);
  expect(item).toMatchObject(expected);
});

test("a message is not copied if both stages have received its webhook", async () => {
  const message = {
    kind: "message",
    channel: "whatsapp",
    sender: whatsapp,
    id: "wamid.A",
    addresses: ["4915100000001"],
    text: "Hello",
    metadata: { id: "wamid.A" },
  } as const;
  const first = await inSource(() => aLead(account, { addresses: { whatsapp: ["4915100000001"] } }));
  await copy(account, first);
  await receiveEntry(account, message);
  const later = await inSource(() => receiveEntry(account, message));
  expect(await copy(account, later)).toMatchObject({
    code: 3,
    output: { stored: 0, invalid: [{ reason: "its request has taken effect here, too" }] },
  });
  const items = [...(await tableItems()).values()];
  expect(items.filter(({ conversationId, message }) => conversationId && message)).toHaveLength(1);
  expect(items.filter(({ messageCount }) => messageCount)).toHaveLength(1);
});

test("with --keys, keys work in the copy until they are revoked or expire in either table", async () => {
  const keys: Record<string, Awaited<ReturnType<typeof issueApiKey>>> = {};
  const item = async (name: string) => {
    const found = [...(await tableItems()).values()].find(({ keyId }) => keyId === keys[name]?.keyId);
    return { pk: "", sk: "", ...found };
  };
  const from = await inSource(async () => {
    for (const name of ["live", "later", "here", "taken", "neighbour"])
      keys[name] = await issueApiKey(name === "neighbour" ? "neighbour" : account, { label: name });
    keys.expired = await issueApiKey(account, { validUntil: "2026-01-01T00:00:00.000Z" });
    keys.revoked = await issueApiKey(account);
    await revokeApiKey(await item("revoked"));
    await aLead(account);
  });
  const states = () => Promise.all(Object.values(keys).map(({ apiKey }) => findApiKey(apiKey)));
  // The account, and the lead.
  expect((await copy(account, from)).output).toMatchObject({ stored: 2 });
  expect(await listApiKeys(account)).toEqual([]);
  expect((await copy(account, from, "--keys", "--dry-run")).output).toMatchObject({ stored: 6 });
  expect((await copy(account, from, "--keys")).output).toMatchObject({ stored: 6 });
  const works = { accountId: account, access: "full" };
  expect(await states()).toMatchObject([works, works, works, works, "unknown", "expired", "revoked"]);
  const { apiKey, ...live } = keys.live ?? {};
  expect(await listApiKeys(account)).toContainEqual(live);
  await revokeApiKey(await item("here"));
  await put({ ...(await item("taken")), accountId: "other" });
  const later = await inSource(async () => revokeApiKey(await item("later")));
  const { code, output } = await copy(account, later, "--keys");
  expect({ code, output }).toMatchObject({ code: 3, output: { stored: 0, replaced: 1, left: 1 } });
  expect(output.invalid).toMatchObject([{ type: "apiKey", reason: "its accountId is not the stored one" }]);
  expect((await states()).slice(0, 3)).toMatchObject([works, "revoked", "revoked"]);
  expect((await copy(account, from, "--keys", "--to-account", "other")).failure).toBe(
    "API keys work only for an account of the same name: leave out --keys or --to-account.",
  );
});

test("channels are copied with their tokens and times, but not if another account has their sender", async () => {
  const [path, token] = [`channels/whatsapp/${whatsapp}/token`, "EAAG"];
  const stored: Record<string, string> = {};
  const refused = (name: string) => Object.assign(new Error(`${name}.`), { name });
  let refusal: Error = new ParameterNotFound({ message: "", $metadata: {} });
  type Parameter = { input: { Name: string; Value?: string } };
  const send = async ({ input: { Name, Value = stored[Name] } }: Parameter) => {
    if (Value === undefined) throw refusal;
    stored[Name] = Value;
    return { Parameter: { Value } };
  };
  vi.spyOn(SSMClient.prototype, "send").mockImplementation(send as never);
  const from = await inSource(async () => {
    await put({ ...channelKey(account, "whatsapp"), sender: whatsapp, connectedAt });
    await put({ ...channelKey(account, "instagram"), sender: instagram, connectedAt });
  });
  stored[`/${from}/${path}`] = token;
  expect((await copy(account, from, "--keys", "--dry-run")).output).toMatchObject({ stored: 1, left: 1 });
  expect([...memory.items()]).toEqual([]);
  const leftOut = async () => {
    const { code, output } = await copy(account, from, "--keys");
    expect({ code, output }).toMatchObject({ code: 3, output: { left: 1 } });
    return output.invalid[0].reason;
  };
  const sentence = `the token of ${instagram} is missing or may not be read: run channels connect`;
  expect(await leftOut()).toBe(sentence);
  refusal = refused("AccessDeniedException");
  expect(await leftOut()).toBe(sentence);
  refusal = refused("InternalServerError");
  expect((await copy(account, from, "--keys")).failure).toMatch(
    /^Stopped after 0 rows, .*InternalServerError/,
  );
  expect(stored[`/unit/${path}`]).toBe(token);
  expect(await readConnection(account, "whatsapp")).toEqual({ sender: whatsapp, connectedAt });
  expect(await readSenderAccount("whatsapp", whatsapp)).toBe(account);
  expect(await readItem(accountKey(account))).toBeUndefined();
  await connect({ account: "other", channel: "instagram", sender: instagram });
  expect(await leftOut()).toBe("the account other has its sender");
  await connect({ account, channel: "instagram", sender: "17841" });
  expect(await leftOut()).toBe("its sender is not the stored one");
});
