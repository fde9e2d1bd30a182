import type { Account } from "./account.ts";
import { advanceClock } from "./clock.ts";
import { metered } from "./metered-table.ts";

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
