import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { erase } from "../../../../lib/ops/erasure/erase.ts";
import { ItemsToErase } from "../../../../lib/ops/erasure/items-to-erase.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import * as keys from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { type Key, readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { runJson } from "../../../support/commands/command.ts";
import { anAccount, leadFile, storedLeads } from "../../../support/commands/lead-files.ts";
import { call } from "../../../support/requests/call.ts";
import { aLead, aMessage, report, setStatus } from "../../../support/requests/requests.ts";
import { beforeCall, stores } from "../../../support/tables/conditions.ts";
import { copyTable, useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { put, remove, tableItems } from "../../../support/tables/table-items.ts";
import { copy } from "../accounts/support/copy.ts";

useTablesOfCommands();

skipWaits();

/** Erases a lead completely, as `leads erase` does. */
const eraseLead = (account: string, id: string) =>
  erase(new ItemsToErase({ account, leads: new Set([id]) }), new Pace());

/** Expects that an erased lead has left only the note of its erasure, and records of its row and its requests. */
async function expectErased(account: string, id: string) {
  const naming = [...(await tableItems())].filter((entry) => entry[0].includes(account));
  expect(JSON.stringify(naming)).not.toMatch(/Ada|Hello|"response"/);
  const left = naming.filter((entry) => JSON.stringify(entry).includes(id)).map(([key]) => key);
  expect(left.filter((key) => !/^(?:IMPORT|IDEMPOTENCY)#/.test(key))).toEqual([`ERASED#${account} ${id}`]);
}

describe("accounts copy leaves nothing of a lead that is erased completely before the copy writes", () => {
  /** An account with a lead and its conversation, and a function that copies the account to another one. */
  async function source() {
    const [from, to] = [randomUUID(), randomUUID()];
    const { id } = await aLead(from, { externalId: "crm-ada" });
    const message = await aMessage(from, id);
    const again = () => copy(from, tableName, "--to-account", to);
    return { from, to, id, message, again };
  }

  type Data = Awaited<ReturnType<typeof source>>;
  /** Copies the account, and removes an item from the copy. */
  const without = (keyOf: (data: Data) => Key) => async (data: Data) => {
    await data.again();
    await remove(keyOf(data));
  };
  const headers = { "idempotency-key": "1" };
  const cases: Readonly<Record<string, readonly [type: string, prepare?: (data: Data) => Promise<unknown>]>> =
    {
      "the lead": ["LEAD"],
      "its external id": ["EXTERNAL", without(({ to }) => keys.externalIdKey(to, "crm-ada"))],
      "its conversation": ["CONVERSATION"],
      "its conversation that has ended": [
        "CONVERSATION",
        ({ from, message }) => setStatus(from, message.conversationId, "closed"),
      ],
      "its conversation while another one is active": [
        "CONVERSATION",
        async (data) => {
          await without(({ to, message }) => keys.conversationKey(to, message.conversationId))(data);
          await aMessage(data.to, data.id);
        },
      ],
      "the lock of its conversation": [
        "ACTIVE",
        without(({ to, id }) => keys.activeConversationKey(to, id, "whatsapp")),
      ],
      "its message": ["MESSAGE"],
      "the response to its change": [
        "IDEMPOTENCY",
        ({ from, id }) =>
          call("create-lead", { account: from, headers, query: "ifExists=update", body: { id, score: 1 } }),
      ],
      "the response to a change of its message": [
        "IDEMPOTENCY",
        ({ from, message }) => report(from, message, { delivery: "sent" }, headers),
      ],
    };

  test.each(Object.entries(cases))("%s", async (_, [type, prepare]) => {
    const data = await source();
    const { to, id, again } = data;
    await prepare?.(data);
    let isErased = false;
    using __ = beforeCall(
      stores(({ pk }) => pk.startsWith(`${type}#${to}`)),
      async () => {
        await eraseLead(to, id);
        isErased = true;
      },
    );
    expect(await again()).toMatchObject({ failure: undefined, output: { left: 0 } });
    expect(isErased).toBe(true);
    await expectErased(to, id);
  });
});

test("accounts copy does not note the erasure of a lead that is stored before the note", async () => {
  const [from, to] = [randomUUID(), randomUUID()];
  const { id } = await aLead(from);
  const lead = (await readItem(keys.leadKey(from, id))) ?? {};
  await eraseLead(from, id);
  using _ = beforeCall(
    stores(({ pk }) => pk === `ERASED#${to}`),
    () => put({ ...lead, ...keys.leadKey(to, id) }),
  );
  const { output } = await copy(from, tableName, "--to-account", to);
  expect(output).toMatchObject({ stored: 0, present: 1 });
  expect(await readItem(keys.erasedLeadKey(to, id))).toBeUndefined();
});

test("accounts copy of a backup under another name does not bring back a lead that was erased since the backup", async () => {
  const [account, to] = [randomUUID(), randomUUID()];
  const { id } = await aLead(account);
  await aMessage(account, id);
  const other = await aLead(account);
  const from = copyTable();
  await eraseLead(account, id);
  // The second copy finds what the first one has noted.
  for (const erased of [3, 3]) {
    expect((await copy(account, from, "--to-account", to)).output).toMatchObject({ erased });
    const copied = [...(await tableItems()).keys()].filter((key) => key.includes(to));
    expect(copied.filter((key) => key.includes(id))).toEqual([`ERASED#${to} ${id}`]);
    expect(copied).toContain(`LEAD#${to} ${other.id}`);
  }
});

test("leads import does not create a new lead for a row if the lead is erased after the import has found it", async () => {
  const account = await anAccount();
  const file = await leadFile("name\nAda\n");
  const load = () => runJson(leadsCommand(), "import", file, "--update", "--account", account);
  await load();
  const [{ id } = { id: "" }] = await storedLeads(account);
  let reads = 0;
  using _ = beforeCall(
    ({ input }) => input.Key?.sk === id && String(input.Key.pk).startsWith("LEAD") && ++reads === 2,
    () => eraseLead(account, id),
  );
  expect((await load()).output).toMatchObject({ imported: 0, erased: 1 });
  await expectErased(account, id);
  expect(await storedLeads(account)).toEqual([]);
});
