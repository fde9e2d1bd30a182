import type { Printed } from "../command/action.ts";
import { type AccountOptions, opsCommand } from "../command/command.ts";
import { someInvalid } from "../table/invalid-items.ts";
import type { LeadFile } from "./file/lead-file.ts";
import type { Rejects } from "./rejects.ts";

/** A sentence with the columns, and the lines before the header, that are left out; empty if there are none. */
export function describeLeftOut(leftOut: readonly string[]): string[] {
  const names = leftOut.slice(0, 40).map((name) => JSON.stringify(name));
  const more = leftOut.length - names.length;
  if (more > 0) names.push(`${more} more`);
  return names.length > 0 ? [`Left out: ${names.join(", ")}.`] : [];
}

interface Outcomes {
  readonly importId?: string;
  /** The number of valid rows, or of the rows with each outcome. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many of the present leads have other values than their rows. */
  readonly different?: number;
  /** Whether the run has `--update`: leads that are still different cannot be changed. */
  readonly update?: boolean;
  /** Leads as they would be stored. */
  readonly first?: readonly object[];
}

const fixed = "createdAt never changes. Undo the import that made them, and import them again.";

/** What is printed of the outcomes. Sets the exit code of a run with invalid rows. */
export function describeOutcomes(
  options: AccountOptions,
  { count: rows, header }: LeadFile,
  { importId, counts, different = 0, update = false, first = [] }: Outcomes,
  rejects: Rejects,
): Printed {
  const { path, count: rejected } = rejects;
  const { account } = options;
  const { leftOut } = header;
  const { imported = 0, present = 0 } = counts;
  const all = { ...counts, rejected };
  const see = path && rejected > 0 ? ` See ${path}.` : "";
  const numbers = Object.entries(all).map(([outcome, count]) => `${count} ${outcome}`);
  const lines = [
    ...first.map((lead) => JSON.stringify(lead)),
    `${rows} rows: ${numbers.join(", ")}.${see}`,
    ...rejects.commonest,
    ...(different > 0
      ? [
          `${different} rows are stored with other values: ${update ? fixed : "add --update, which changes all but createdAt."}`,
        ]
      : []),
    ...describeLeftOut(leftOut),
    ...(importId && imported > 0
      ? [
          "Totals include leads with an earlier date within seconds.",
          `This is the import ${importId}: --undo takes what it imported back.`,
        ]
      : []),
    ...(importId && present > 0
      ? [`For leads of earlier imports, see ${opsCommand(options, `leads imports --account ${account}`)}.`]
      : []),
  ];
  if (rejected > 0) process.exitCode = someInvalid;
  const json = {
    account,
    importId,
    rows,
    ...all,
    ...(different > 0 && { different }),
    ...(leftOut.length > 0 && { leftOut }),
    ...(rejected > 0 && { rejects: path }),
    ...(first.length > 0 && { first }),
  };
  return { json, text: lines.join("\n") };
}
