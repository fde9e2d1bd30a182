import { sendMessage } from "../../../shared/domain/conversations/messages.ts";
import { createOrUpdateLead } from "../../../shared/domain/create-lead.ts";
import { shuffled } from "../../support/cases/random.ts";
import { mean } from "../../support/cases/statistics.ts";
import { itemSize } from "../../support/memory-table/item-size.ts";
import { check, type Limits } from "../report.ts";
import { Account } from "./account.ts";
import { buildRows, sourcePicker } from "./lead-rows.ts";
import { leadList } from "./lists.ts";
import { advanceClock, metered } from "./metered-table.ts";
import { costRow } from "./prices.ts";
import { readPage } from "./read-pages.ts";

/** The leads of each account. */
const size = 100_000;

/**
 * The writes of the routes: their write and read units, which `costs.integration.test.ts` compares with those of an engine,
 * their events if the table of costs has them, and the change whose counting costs the same.
 */
const requests = [
  ["A lead with an email address and a source", 6, 0, 1, "a lead"],
  ["The same, with `Idempotency-Key`", 9, 0, 1, "a lead"],
  ["The same, with `externalId`", 9, 0, 1, "a lead"],
  ["A change of a lead's name, by `externalId`", 7, 2, 1, "a message that joins"],
  ["A message that joins a conversation", 6, 2, 1, "a message that joins"],
  ["The same, with `Idempotency-Key`", 8, 2, 1, "a message that joins"],
  ["A report of how far a message has got", 1, 1, 1, "a message that joins"],
  ["A message that starts a conversation", 11, 2, 2, "a conversation"],
  ["A change of a lead's status", 9, 1, 0, "a status"],
] as const;

/** Measures changes of each kind, and new leads in accounts whose sources have equal shares. */
export async function measureWrites() {
  const counting: { counting: string; W: number; R: number }[] = [];
  const add = async (what: string, limits: Limits, ...changes: Parameters<typeof count>) => {
    const units = await count(...changes);
    check(`counting ${what}`, units, limits);
    counting.push({ counting: what, ...units });
  };
  const account = new Account("acme", buildRows(size));
  await account.deliver();
  const newLeads = account.rows.flatMap(({ id, status }) => (status === "new" ? [id] : []));
  const oldestFirst = newLeads.values();
  const send = (leadId: string, channel: string) =>
    sendMessage(account.name, { leadId, channel, message: "When can we talk?" });
  const newest = account.rows.at(-1)?.id ?? "";
  await send(newest, "chat");
  await account.deliver();
  let newSources = 0;
  await add("a lead", {}, account, () => account.createLead());
  await add("a message that joins", { W: 0, R: 0 }, account, () => send(newest, "chat"));
  await add("a conversation", {}, account, () => send(oldestFirst.next().value ?? "", "email"));
  const ofAnyAge = shuffled(account.random, newLeads).values();
  const changeStatus = () =>
    createOrUpdateLead(account.name, { id: ofAnyAge.next().value, status: "booked" });
  await add("a status", {}, account, changeStatus);
  await add("a lead of 1,000 in 5 s", { W: 0.5 }, account, () => account.createLead(), 1000, 200);
  const toNewSource = () => account.createLead({ source: `new-${newSources++}` });
  await add("a lead of a new source, of 2,000", {}, account, toNewSource, 2000, 50);
  const rates = [];
  for (const sources of [1, 5, 200, 1000]) {
    const toSource = sourcePicker(sources);
    const account = new Account(`steady-${sources}`, buildRows(size, toSource));
    await account.deliver();
    const row: Record<string, number> = { sources };
    for (const perSecond of [1, 10, 50]) {
      const units = await count(account, () => account.createLead({ source: toSource() }), 4000, perSecond);
      check(`counting a lead of ${sources} sources, ${perSecond} a second`, units, { W: 1.4 });
      row[`${perSecond} a second: W`] = units.W;
    }
    rates.push(row);
  }
  const costs = requests.flatMap(([what, W, R, events, counted]) => {
    const { W: moreW = NaN, R: moreR = NaN } = counting.find((row) => row.counting === counted) ?? {};
    return events ? costRow(what, { W: W + moreW, R: R + moreR }, events) : [];
  });
  return { writing: requests.map(([request, W, R]) => ({ request, W, R })), counting, rates, costs };
}

/** How many leads are created while first pages are read, how fast, and after how many leads pages are measured. */
const [created, perSecond, settled] = [1500, 50, 500];

/** Reads the first page while leads are created. Each read includes the leads that are not counted yet. */
export async function measureFirstPages() {
  const rows = [];
  for (const tagged of [8, 50]) {
    const account = new Account("acme", buildRows(5000));
    await account.deliver();
    const tags = Array.from({ length: tagged }, (_, n) => String(n).padStart(64, "x"));
    const units: number[] = [];
    const create = async () => {
      await account.createLead({ tags });
      units.push((await readPage(leadList(account, {}), 1)).R);
    };
    await count(account, create, created, perSecond);
    const R = mean(units.slice(settled));
    const leads = [...account.memory.items()].filter(({ pk }) => String(pk).startsWith("LEAD#"));
    const bytes = Math.max(...leads.map(itemSize));
    rows.push({
      "bytes of a new lead": bytes,
      R: Math.round(R),
      "lists a second": Math.floor(3000 / (R - 1)),
    });
  }
  return rows;
}

/**
 * Makes changes at a steady rate, by default so slowly that each is counted alone. The stream delivers one batch at a time:
 * all changes made while the maintainer handled the last batch.
 *
 * @returns the units of counting each change
 */
async function count(account: Account, change: () => Promise<unknown>, changes = 1000, perSecond = 0.1) {
  let [W, R, made] = [0, 0, 0];
  const changeForOneSecond = async () => {
    for (let n = 0; n < perSecond && made < changes; n++) {
      advanceClock(1000 / perSecond);
      // The cost of the change itself is not a cost of counting.
      await metered(change);
      made++;
    }
  };
  const wait = async (milliseconds: number) => {
    const end = Date.now() + milliseconds;
    while (Date.now() < end && made < changes) await changeForOneSecond();
    advanceClock(Math.max(0, end - Date.now()));
  };
  while (made < changes || account.stream.length > 0) {
    await changeForOneSecond();
    const cost = await account.deliver(wait);
    W += cost.W / changes;
    R += cost.R / changes;
  }
  return { W, R };
}
