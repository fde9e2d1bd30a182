import { afterAll, expect, test } from "vitest";
import { expectAllStored, newWorld } from "../fuzz/world.ts";
import { request, startApi } from "../support/api.ts";
import { seeded } from "../support/random.ts";
import type { Attempt } from "./attack.ts";
import { authorization } from "./kinds/authorization.ts";
import { framing } from "./kinds/framing.ts";
import { idempotency } from "./kinds/idempotency.ts";
import { otherAccount } from "./kinds/other-account.ts";
import { roles } from "./kinds/roles.ts";

/** How many attempts a run makes in total. */
const attempts = Number(process.env.ATTEMPTS ?? 600);

/** Repeats a run. */
const seed = Number(process.env.SEED ?? 1);

/** The kinds of attacks, their shares of the attempts, and outcomes without which they would have attacked nothing. */
const kinds: Readonly<Record<string, readonly [Attempt, number, readonly (number | string)[]]>> = {
  "another account's key": [otherAccount, 0.4, [200, 201, 400, 404]],
  "no valid key": [authorization, 0.2, [200, 401, 403]],
  "another account's Idempotency-Key": [idempotency, 0.1, [201]],
  "a connection that is shared": [framing, 0.1, [201, 400]],
  "a function's role": [roles, 0.2, ["allowed", "denied"]],
};

const counts: string[] = [];
afterAll(() => console.log([`${attempts} attempts, SEED=${seed}`, ...counts].join("\n")));

const api = await startApi({ maxEnvironments: 2 });
const world = await newWorld(
  async (account) => (await api.issueKey(account)).apiKey,
  async ({ apiKey }, route, sent) => (await request(api, route, { apiKey, ...sent })).body,
);
const [attacker, victim] = world.accounts;

test.each(Object.entries(kinds))(
  "%s gives an attacker nothing",
  { timeout: 3_600_000 },
  async (kind, [attempt, share, needed]) => {
    const random = seeded(seed);
    const outcomes = new Map<number | string, number>();
    const note = (outcome: number | string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const field = { api, attacker, victim, random, note };
    const breaches: string[] = [];
    const count = Math.ceil(attempts * share);
    for (let n = 0; n < count; n++) {
      const breach = await attempt(field);
      if (breach) breaches.push(breach);
    }
    const tally = [...outcomes].map(([outcome, times]) => `${outcome}: ${times}`).join(", ");
    counts.push(`${kind}: ${count} attempts, ${breaches.length} breaches (${tally})`);
    expect(breaches).toEqual([]);
    expect([...outcomes.keys()]).toEqual(expect.arrayContaining([...needed]));
  },
);

test("the victim's data are as the victim left them", async () => {
  await expectAllStored({ accounts: [victim], send: world.send });
});
