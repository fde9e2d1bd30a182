import { number } from "../markdown.ts";
import { Account } from "./account.ts";
import { changeStatus, createLead, joining, loneChanges } from "./changes.ts";
import { advanceClock } from "./clock.ts";
import { buildRows, sourcePicker } from "./lead-rows.ts";
import { metered } from "./metered-table.ts";
import type { Report } from "./report.ts";

/** The leads of each account. */
const size = 100_000;

/** Lone changes are ten seconds apart, so that each is counted alone. */
const alone = { count: 1000, perSecond: 0.1 };

/** Makes changes in an account, and creates leads in accounts whose sources all have trees. */
export async function measureWrites(report: Report): Promise<void> {
  const rows = [...(await measureKinds(report))];
  for (const sources of [1, 5, 200, 1000]) rows.push(await measureRates(report, sources));
  report.section(
    "Writing",
    `Units of each change, and of counting it, in accounts of ${number(size)} leads. The first ones are ten seconds apart. The stream delivers to the maintainer one batch of up to 1,000 changes at a time. All sources of the last accounts have equal shares.`,
    rows,
  );
}

async function measureKinds(report: Report) {
  const account = new Account("acme", buildRows(size));
  await account.count();
  const make = (changes: typeof alone, change: () => Promise<unknown>) =>
    makeChanges(account, changes, change);
  const rows: Record<string, string | number>[] = [];
  for (const [what, change, events] of await loneChanges(account)) {
    const units = await make(alone, change);
    rows.push({ what, ...units });
    const [W, R] = [units.W + units["counting: W"], units.R + units["counting: R"]];
    report.request(what, { W, R }, events);
    if (what === joining) report.check(what, units);
  }
  rows.push({ what: "A change of a lead's status", ...(await make(alone, () => changeStatus(account))) });
  const burst = await make({ count: 1000, perSecond: 200 }, () => createLead(account));
  report.check("a lead of 1,000 in 5 s", burst);
  let sources = 0;
  const newSource = await make({ count: 2000, perSecond: 50 }, () =>
    createLead(account, { source: `new-${sources++}` }),
  );
  return [
    ...rows,
    { what: "a lead of 1,000 in 5 s", ...burst },
    { what: "a lead of a new source, of 2,000", ...newSource },
  ];
}

/** Creates leads at several rates. */
async function measureRates(report: Report, sources: number) {
  const toSource = sourcePicker(sources);
  const account = new Account(`steady-${sources}`, buildRows(size, toSource));
  await account.count();
  const rates: Awaited<ReturnType<typeof makeChanges>>[] = [];
  for (const perSecond of [1, 10, 50]) {
    const units = await makeChanges(account, { count: 4000, perSecond }, () =>
      createLead(account, { source: toSource() }),
    );
    const limit = sources > 200 ? "a lead, 1,000 sources" : "a lead, up to 200 sources";
    report.check(limit, units);
    rates.push(units);
  }
  const cells = (["W", "R", "counting: W", "counting: R"] as const).map((unit) => {
    const ofRates = new Set(rates.map((units) => number(units[unit], 2)));
    return [unit, [...ofRates].join(", ")];
  });
  return {
    what: `a lead of ${number(sources)} sources, 1, 10 and 50 a second`,
    ...Object.fromEntries(cells),
  };
}

/**
 * Makes changes at a steady rate. The stream delivers one batch at a time: all that changed while the maintainer handled
 * the batch before.
 *
 * @returns the units of each change, and of counting it
 */
export async function makeChanges(
  account: Account,
  { count, perSecond }: { readonly count: number; readonly perSecond: number },
  change: () => Promise<unknown>,
) {
  const units = { W: 0, R: 0, "counting: W": 0, "counting: R": 0 };
  let made = 0;
  const makeForOneSecond = async () => {
    for (let n = 0; n < perSecond && made < count; n++) {
      advanceClock(1000 / perSecond);
      const { cost } = await metered(change);
      units.W += cost.write / count;
      units.R += cost.read / count;
      made++;
    }
  };
  const wait = async (milliseconds: number) => {
    const end = Date.now() + milliseconds;
    while (Date.now() < end && made < count) await makeForOneSecond();
    advanceClock(Math.max(0, end - Date.now()));
  };
  while (made < count || account.stream.length > 0) {
    await makeForOneSecond();
    const counting = await account.deliver(wait);
    units["counting: W"] += counting.write / count;
    units["counting: R"] += counting.read / count;
  }
  return units;
}
