import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { beginErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { createOrUpdateLead } from "../../../../shared/domain/create-lead.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { runJson } from "../../../support/commands/command.ts";
import { anAccount, leadFile, storedLeads } from "../../../support/commands/lead-files.ts";
import { call } from "../../../support/requests/call.ts";
import { aMessage, setStatus } from "../../../support/requests/requests.ts";
import { aroundCalls, beforeCall, stores, type TableCommand } from "../../../support/tables/conditions.ts";
import { copyTable, useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { remove, tableItems } from "../../../support/tables/table-items.ts";
import { copy, replace } from "../accounts/support/copy.ts";

useTablesOfCommands();

/** What happens while an undo waits for requests that had found a lead. */
const waiting = { meanwhile: async (): Promise<unknown> => undefined };
skipWaits((time) => (time === 35_000 ? waiting.meanwhile() : undefined));
// The output of concurrent commands is captured only for the first one.
console.log = () => {};

const file = "name,email,externalId,addresses.sms\nAda,ada@example.org,crm-1,+4912345\n";

/** Runs `leads …` on an account. */
const ops = (account: string, ...args: string[]) => runJson(leadsCommand(), ...args, "--account", account);

/** A new account with an import, and commands on it. */
async function imported(content: string, ...options: string[]) {
  const account = await anAccount();
  const path = await leadFile(content);
  const run = (...args: string[]) => ops(account, "import", ...args);
  const { importId } = (await run(path, ...options)).output;
  waiting.meanwhile = async () => undefined;
  const leads = await storedLeads(account);
  const [ada = leads[0], ben = leads[0]] = leads;
  if (!ada || !ben) throw new Error("Nothing was imported.");
  const undo = (...options: string[]) => run("--undo", importId, "--yes", ...options);
  /** Runs an undo that is killed when it has marked the leads. */
  const undoHalf = async () => {
    waiting.meanwhile = () => Promise.reject(new Error("killed"));
    await undo();
    waiting.meanwhile = async () => undefined;
  };
  return { account, path, importId, ada, ben, leads, run, undo, undoHalf, again: () => run(path) };
}

/** The items of an account that contain one of some texts. */
const itemsWith = async (account: string, texts: readonly string[]) =>
  [...(await tableItems())].filter(
    ([key, item]) => key.includes(account) && texts.some((text) => JSON.stringify(item).includes(text)),
  );

const writes = (text: string) => (command: TableCommand) => JSON.stringify(command.input).includes(text);
const isErased = writes('"undone":true');
const isBegun = writes(":pending");

test("an undo erases leads that were not changed and have no conversation, and a new import of the file makes new ones", async () => {
  const { account, importId, ada, ben, leads, undo, again } = await imported(
    "name,externalId,addresses.sms\nAda,,\nBen,,\nCem,crm-3,+1\nDan,,\n",
  );
  await createOrUpdateLead(account, { id: ada.id, score: 7 });
  const { conversationId } = await aMessage(account, ben.id);
  await setStatus(account, conversationId, "closed");
  const kept = { [ada.id]: "was changed", [ben.id]: "has a conversation" };
  const before = await tableItems();
  process.exitCode = 0;
  expect((await undo("--dry-run")).output).toEqual({ account, importId, erased: 2, kept });
  expect(process.exitCode).toBe(3);
  expect(await tableItems()).toEqual(before);
  expect((await undo()).output).toEqual({ account, importId, erased: 2, kept });
  expect((await storedLeads(account)).map(({ name }) => name)).toEqual(["Ada", "Ben"]);
  expect((await undo()).output).toMatchObject({ erased: 0, kept });

  const { output } = await again();
  expect(output).toMatchObject({ imported: 2, present: 2, erased: 0 });
  const gone = leads.slice(2).map(({ id }) => id);
  const now = (await storedLeads(account)).map(({ id }) => id);
  expect(now).not.toEqual(expect.arrayContaining(gone));
  expect(now).toHaveLength(4);
  const { output: imports } = await ops(account, "imports");
  const startedAt = expect.any(String);
  expect(imports).toEqual([
    { importId: output.importId, startedAt, leads: 2 },
    { importId, startedAt, leads: 2 },
  ]);
  const { output: erased } = await ops(account, "erased");
  expect(erased.map(({ leadId }: { leadId: string }) => leadId)).toEqual(gone);
  expect((await ops(account, "import", "--undo", "import_1")).failure).toContain(
    "has no leads of the import import_1: see `npm run ops -- leads imports",
  );
});

test("an undo keeps a lead that gets a message, whenever the request has found the lead", async () => {
  const names = ["Before", "After", "Last", "Late", "None"];
  const { account, leads, undo } = await imported(`name\n${names.join("\n")}\n`);
  const [before, after, last, late] = leads.map(({ id }) => id);
  const open = Promise.withResolvers<void>();
  let isHeld = false;
  using _ = aroundCalls(async (command, send) => {
    if (writes('"message":"Before"')(command)) {
      isHeld = true;
      await open.promise;
    }
    return send(command);
  });
  const write = (leadId = "", message = "") =>
    call("send-message", { account, body: { leadId, channel: "sms", message } });
  const found = write(before, "Before");
  await expect.poll(() => isHeld).toBe(true);
  waiting.meanwhile = async () => {
    // Marked leads appear unchanged.
    expect(await storedLeads(account)).toEqual(leads);
    expect((await call("list-leads", { account })).body.data).toEqual(leads.toReversed());
    expect((await write(after, "After")).status).toBe(201);
    open.resolve();
    expect((await found).status).toBe(201);
  };
  // Two messages arrive after the last read of a lead, and one arrives when its lead is erased.
  const isOf =
    (id = "") =>
    (command: TableCommand) =>
      isErased(command) && writes(id)(command);
  using __ = beforeCall(isOf(last), async () => {
    const both = await Promise.all([write(last, "Last"), write(last, "Last, too")]);
    expect(both.map(({ status }) => status)).toEqual([201, 201]);
  });
  const isLate = Promise.withResolvers<void>();
  using ___ = aroundCalls(async (command, send) => {
    if (writes('"message":"Late"')(command)) await isLate.promise;
    const output = await send(command);
    if (isOf(late)(command)) isLate.resolve();
    return output;
  });
  using ____ = beforeCall(isOf(late), async () => {
    lost = write(late, "Late");
  });
  let lost: ReturnType<typeof write> | undefined;
  const kept = Object.fromEntries([before, after, last].map((id) => [id, "has a conversation"]));
  expect((await undo()).output).toMatchObject({ erased: 2, kept });
  expect(await lost).toMatchObject({ status: 404, body: { code: "lead_not_found" } });
  expect(await storedLeads(account)).toEqual(leads.slice(0, 3));
  expect(await itemsWith(account, ["undoing", '"Late"'])).toEqual([]);
});

test("an undo also erases leads that only the import itself has updated", async () => {
  const { account, run, path, undo } = await imported("name,plan\nAda,pro\n", "--ignore-others");
  const update = [path, "--map", "plan=metadata.plan", "--update"];
  expect((await run(...update)).output).toMatchObject({ updated: 1 });
  expect((await undo()).output).toMatchObject({ erased: 1, kept: {} });
  expect(await storedLeads(account)).toEqual([]);
});

test("after the undo of an import with ids, its rows get other ids", async () => {
  const id = "lead_01M7ZA27P008RGE6JH5PA0WR2V";
  const { account, ada, undo, again } = await imported(`id,name\n${id},Ada\n`);
  expect(ada.id).toBe(id);
  await undo();
  expect((await again()).output).toMatchObject({ imported: 1, erased: 0 });
  expect((await again()).output).toMatchObject({ imported: 0, present: 1 });
  expect(await storedLeads(account)).toEqual([
    { ...ada, id: expect.not.stringMatching(id), updatedAt: expect.any(String) },
  ]);
  await ops(account, "erase", "--lead", id, "--yes");
  expect((await again()).output).toMatchObject({ imported: 0, erased: 1 });
});

test("an import that has read the record of a row before the undo makes a new lead of it", async () => {
  const { account, ada, undo, again } = await imported(file);
  using _ = beforeCall(({ input }) => input.Key?.sk === ada.id && input.Key.pk.startsWith("LEAD"), undo);
  await again();
  expect(await storedLeads(account)).toMatchObject([{ name: "Ada", id: expect.not.stringMatching(ada.id) }]);
});

test("an erasure wins over an import that has read that the lead was undone", async () => {
  const id = "lead_01M7ZA27P008RGE6JH5PA0WR2V";
  const { account, undo, again } = await imported(`id,name\n${id},Ada\n`);
  await undo();
  using _ = beforeCall(
    stores(({ pk }) => pk === `LEAD#${account}`),
    () => beginErasure(account, id, new Pace()),
  );
  expect((await again()).output).toMatchObject({ imported: 0, erased: 1 });
  expect(await storedLeads(account)).toEqual([]);
});

/** An import whose lead had a conversation, and a command that copies the conversation back. */
async function withCopy() {
  const it = await imported(file);
  const { account, ada } = it;
  const { conversationId } = await aMessage(account, ada.id);
  const from = copyTable();
  const ofConversation = () => itemsWith(account, [conversationId]);
  for (const [, item] of await ofConversation()) await remove(item);
  const isWritten = stores(({ pk }) => pk === `CONVERSATION#${account}`);
  return { ...it, isWritten, ofConversation, copyBack: () => copy(account, from) };
}

test("an undo keeps a lead if a copy stores its conversation after the undo has marked the lead", async () => {
  const { account, ada, undo, undoHalf, isWritten, ofConversation, copyBack } = await withCopy();
  {
    using _ = beforeCall(isWritten, undoHalf);
    expect((await copyBack()).failure).toBeUndefined();
  }
  expect((await undo()).output.kept).toEqual({ [ada.id]: "has a conversation" });
  expect(await ofConversation()).toHaveLength(3);
  expect(await storedLeads(account)).toEqual([ada]);
});

test("a copy stores nothing of a lead that a paused undo is about to erase", async () => {
  const { account, undo, isWritten, ofConversation, copyBack } = await withCopy();
  const [isAbout, isWoken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  using _ = beforeCall(isErased, () => {
    isAbout.resolve();
    return isWoken.promise;
  });
  let undone: ReturnType<typeof undo> | undefined;
  using __ = aroundCalls(async (command, send) => {
    if (undone || !isWritten(command)) return send(command);
    undone = undo();
    await isAbout.promise;
    return send(command).finally(() => {
      isWoken.resolve();
      return undone;
    });
  });
  expect((await copyBack()).failure).toBeUndefined();
  expect(await ofConversation()).toEqual([]);
  expect(await storedLeads(account)).toEqual([]);
});

type Imported = Awaited<ReturnType<typeof imported>>;
const orders: Readonly<Record<string, (it: Imported, erase: () => Promise<unknown>) => Promise<unknown>>> = {
  "is killed before": async ({ undoHalf }, erase) => {
    await undoHalf();
    await erase();
  },
  "ends just before the erasure begins": async ({ undo }, erase) => {
    using _ = beforeCall(isBegun, undo);
    await erase();
  },
  "waits when the erasure begins": async ({ account, ada, undo }, erase) => {
    waiting.meanwhile = () => beginErasure(account, ada.id, new Pace());
    await undo();
    await erase();
  },
  "is about to erase the lead when the erasure begins": async ({ account, ada, undo }, erase) => {
    using _ = beforeCall(isErased, () => beginErasure(account, ada.id, new Pace()));
    await undo();
    await erase();
  },
};

test.each(Object.entries(orders))("an erasure wins over an undo that %s", async (_, order) => {
  const it = await imported(file);
  const { account, ada, again, undo } = it;
  const failures: unknown[] = [];
  const erase = async () => {
    failures.push((await ops(account, "erase", "--email", "ada@example.org", "--yes")).failure);
  };
  await order(it, erase);
  expect(failures.at(-1)).toBeUndefined();
  expect(await itemsWith(account, ["ada@example.org", "crm-1", "4912345", "undo", "pending"])).toEqual([]);
  const { output } = await ops(account, "erased");
  expect(output).toEqual([expect.objectContaining({ leadId: ada.id, pending: false })]);
  expect((await again()).output).toMatchObject({ imported: 0, erased: 1 });
  expect((await undo()).failure).toContain("has no leads of the import");
});

test("the file can be imported again even after a copy from a backup before the undo", async () => {
  const { account, undo, again, path } = await imported(file);
  const from = copyTable();
  await undo();
  // Or into a copy that is made after the undo.
  const copied = randomUUID();
  await copy(account, copyTable(), "--to-account", copied);
  expect((await ops(copied, "import", path)).output).toMatchObject({ imported: 1, erased: 0 });
  await copy(account, from);
  const { output } = await again();
  expect(output).toMatchObject({ imported: 1, erased: 0 });
  const { output: imports } = await ops(account, "imports");
  expect(imports).toMatchObject([{ importId: output.importId, leads: 1 }]);
});

test("a copy that replaces what differs keeps the marks of an undo, which then continues", async () => {
  const { account, undo, undoHalf } = await imported(file);
  const from = copyTable();
  await undoHalf();
  expect((await replace(account, from)).output).toMatchObject({ replaced: 0, left: 0 });
  expect(await itemsWith(account, ["undoing"])).toHaveLength(1);
  expect((await undo()).output).toMatchObject({ erased: 1 });
});

test("an undo paces its writes", async () => {
  const { undo } = await imported(`name\n${"Ada\n".repeat(20)}`);
  let written = 0;
  using _ = aroundCalls(async (command, send) => {
    const output = await send(command);
    if (!command.input.TransactItems) return output;
    for (const { CapacityUnits = 0 } of output.ConsumedCapacity) written += CapacityUnits;
    return output;
  });
  const spend = vi.spyOn(Pace.prototype, "spend").mockResolvedValue();
  await undo();
  expect(written).toBeGreaterThan(2 * 2 * 20);
  expect(spend.mock.calls.reduce((sum, [units]) => sum + units, 0)).toBeGreaterThanOrEqual(3 * written);
});
