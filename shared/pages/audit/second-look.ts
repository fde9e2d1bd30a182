import type { Pace } from "../../dynamodb/pace.ts";
import { inParallel } from "../../in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { isOf, readStates } from "../tree/rows.ts";
import { readSoundRoot } from "../tree/tree-store.ts";
import { type Comparison, compareRange, comparison, type Difference, type Finding } from "./compare-tree.ts";

/** When what was found is looked at again, in milliseconds: a change may be on its way to be counted. */
const secondLook = 60_000;

/** Looks again at trees that were wrong, a minute later. @returns what is still the same of them */
export async function lookAgain(found: readonly Comparison[], pace: Pace): Promise<Finding[]> {
  await pace.wait(secondLook);
  const same: Finding[] = [];
  for (const tree of found) same.push(await stillWrong(tree));
  return same;
}

/** What is still the same of a tree that was wrong. */
async function stillWrong({ owner, fed, pace, damage, differences }: Comparison): Promise<Finding> {
  const root = await pace.retry(() => readSoundRoot(owner));
  await pace.spend(1);
  if (damage && root?.generation === damage.root?.generation) return { owner, differences, damage };
  const sks = differences.map(({ sk }) => sk);
  const found = await compareRows(owner, sks, fed, pace);
  const now = new Map(found.differences.map((difference) => [difference.sk, difference]));
  const isSame = ({ sk, counted, actual }: Difference) =>
    now.get(sk)?.counted === counted && now.get(sk)?.actual === actual;
  return { owner, differences: differences.filter(isSame), damage: found.damage };
}

/** Compares the rows with these sort keys, as far as a tree must have them. @param fed that of the list */
async function compareRows(
  owner: CountedOwner,
  sks: readonly string[],
  fed: string,
  pace: Pace,
): Promise<Comparison> {
  const tree = comparison(owner, fed, pace);
  await inParallel(sks, async (sk) => {
    const states = await readStates(owner, [sk], pace.retry);
    await pace.spend(1);
    await compareRange(tree, { start: sk, until: `${sk}!` }, [...states.values()].filter(isOf(owner)));
  });
  return tree;
}
