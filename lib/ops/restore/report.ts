import type { Accounts } from "./find-accounts.ts";
import { type ChangeCounts, sumChanges } from "./restore-account.ts";

/** What became of the accounts, or would. */
export interface Outcome {
  readonly accounts: readonly { readonly account: string; readonly changes: ChangeCounts }[];
  /** Those that were left alone, because they may have been erased. */
  readonly gone: readonly string[];
}

/** What was restored. */
interface Restored extends Pick<Accounts, "added"> {
  readonly from: string;
  /** Of which time the data is, ISO 8601 UTC. */
  readonly at: string;
}

/** The accounts with changes. */
export const findDiffering = ({ accounts }: Outcome) =>
  accounts.filter(({ changes }) => sumChanges(changes) > 0);

/** The outcome for `--json`. */
export const toJson = ({ accounts, gone }: Outcome, { from, at, added }: Restored) => ({
  ...{ fromTable: from, at, accounts, gone, added },
});

const verbs = {
  planned: { create: "create", replace: "replace", delete: "delete" },
  done: { create: "created", replace: "replaced", delete: "deleted" },
} as const;

/** Lines that name each account that differs, or differed, and those that are left alone. */
export function toLines(
  outcome: Outcome,
  { from, at, added }: Restored,
  tense: keyof typeof verbs,
): string[] {
  const { accounts, gone } = outcome;
  const differing = findDiffering(outcome);
  const verb = tense === "done" ? "differed" : "differ";
  return [
    `${differing.length} of ${accounts.length} accounts ${verb} from ${from}, which has the data of ${at}.`,
    ...differing.map(({ account, changes }) => `${account}: ${describeChanges(changes, verbs[tense])}`),
    ...(gone.length > 0
      ? [
          `Left alone, because the live table has no leads and conversations of them, perhaps because they were erased: ${gone.join(", ")}. --account restores one of them.`,
        ]
      : []),
    ...(added.length > 0 ? [`Left alone, because ${from} has nothing of them: ${added.join(", ")}.`] : []),
  ];
}

/** For example "create 2 leads, 3 messages; delete 1 leads". */
const describeChanges = (changes: ChangeCounts, verb: (typeof verbs)[keyof typeof verbs]) =>
  (["create", "replace", "delete"] as const)
    .flatMap((kind) => {
      const numbers = Object.entries(changes).flatMap(([name, { [kind]: n }]) =>
        n > 0 ? [`${n} ${name}`] : [],
      );
      return numbers.length > 0 ? [`${verb[kind]} ${numbers.join(", ")}`] : [];
    })
    .join("; ");
