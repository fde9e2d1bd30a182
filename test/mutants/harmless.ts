/** Mutants that no test can notice: their file and their change, as the run prints them. */
const harmless: readonly (readonly [file: string, change: string])[] = [
  // A range between equal bounds has no rows and makes no call.
  ["shared/pages/read/tail.ts", "if (reached <= downTo) return; → if (reached < downTo) return;"],
  // A window that ends where the tail begins has the same rows either way.
  [
    "shared/pages/read/list-start.ts",
    "const isCut = before !== undefined && before < start.end; → const isCut = before !== undefined && before <= start.end;",
  ],
  // Right behind the tail, both ways read the same rows.
  [
    "shared/pages/read/counted-page.ts",
    "if (offset < keys.length || !counted || offset === 0) → if (offset <= keys.length || !counted || offset === 0)",
  ],
  // A name of a range is only compared with other names, and no index has this one.
  [
    "shared/pages/read/range.ts",
    `export const rangeId = ({ index, partition }: Range) => \`\${index ?? "table"} \${partition}\`; → export const rangeId = ({ index, partition }: Range) => \`\${index} \${partition}\`;`,
  ],
  // Every record of a stream has the time.
  [
    "shared/domain/events.ts",
    "const { NewImage, ApproximateCreationDateTime: writtenAt = 0 } = dynamodb ?? {}; → const { NewImage, ApproximateCreationDateTime: writtenAt = 1 } = dynamodb ?? {};",
  ],
];

/** @param change the changed lines, before and after */
export const isHarmless = (file: string, change: string): boolean =>
  harmless.some(([path, text]) => path === file && text === change);
