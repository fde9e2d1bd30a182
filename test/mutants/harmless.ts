/** Mutants that no test can notice: their file and their change, as the run prints them. */
const harmless: readonly (readonly [file: string, change: string])[] = [
  // A range between equal bounds has no rows and makes no call.
  ["shared/pages/tail.ts", "if (reached <= downTo) return; → if (reached < downTo) return;"],
  // Right behind the tail, both ways read the same rows.
  [
    "shared/pages/counted-page.ts",
    "if (offset < tail.length || !counted || offset === 0) → if (offset <= tail.length || !counted || offset === 0)",
  ],
];

/** @param change the changed lines, before and after */
export const isHarmless = (file: string, change: string): boolean =>
  harmless.some(([path, text]) => path === file && text === change);
