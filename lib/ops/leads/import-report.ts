import type { Printed } from "../command/action.ts";
import { shellWord } from "../output/printed-text.ts";
import { someInvalid } from "../table/invalid-items.ts";
import type { LeadFile } from "./file/lead-file.ts";
import type { Rejects } from "./rejects.ts";

interface Outcomes {
  readonly importId?: string;
  /** The number of valid rows, or of the rows with each outcome. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many of the present leads have other values than their rows. */
  readonly different?: number;
  /** Leads as they would be stored. */
  readonly first?: readonly object[];
}

/** What is printed of the outcomes. Sets the exit code of a run with invalid rows. */
export function describeOutcomes(
  account: string,
  { count: rows, header: { leftOut } }: LeadFile,
  { importId, counts, different = 0, first = [] }: Outcomes,
  { path, count: rejected, commonest }: Rejects,
): Printed {
  const all = { ...counts, rejected };
  const rejects = rejected > 0 ? path : undefined;
  const numbers = Object.entries(all).map(([outcome, count]) => `${count} ${outcome}`);
  const lines = [
    ...first.map((lead) => JSON.stringify(lead)),
    `${rows} rows: ${numbers.join(", ")}.${rejects ? ` See ${rejects}.` : ""}`,
    ...commonest,
    ...(different > 0
      ? [`${different} rows are stored with other values: --update changes all but createdAt.`]
      : []),
    ...(leftOut.length > 0 ? [`Left out: ${leftOut.map((name) => JSON.stringify(name)).join(", ")}.`] : []),
    ...(importId && counts.imported
      ? [
          "Totals include leads with an earlier date within seconds.",
          `This is the import ${importId}: --undo takes what it imported back.`,
        ]
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
    rejects,
    ...(first.length > 0 && { first }),
  };
  return { json, text: lines.join("\n") };
}

/** What is printed of unknown columns: each column, and the same command with options that keep them or leave them out. */
export const describeUnknown = ({ options, lines }: LeadFile["header"]): string =>
  [
    "Nothing is stored yet, because some columns are unknown:",
    ...lines,
    "This command keeps up to ten of the unknown columns as metadata, and leaves the rest out:",
    ["npm run ops --", ...process.argv.slice(2).map(shellWord), ...options].join(" "),
  ].join("\n");
