import type { Mutation } from "./mutations.ts";

/** A rule of the counted trees, and changes of a source that break it. */
export interface BrokenRule {
  readonly rule: string;
  readonly file: string;
  /** Texts that the file has once, and others in place of them. */
  readonly changes: readonly (readonly [from: string, to: string])[];
}

type Texts = readonly string[];

/** @param rules each with its name, and then texts and others in place of them */
const broken = (file: string, rules: readonly (readonly [rule: string, ...texts: Texts])[]) =>
  rules.map(([rule, ...texts]): BrokenRule => {
    const pairs = Array.from({ length: texts.length / 2 }, (_, i) => texts.slice(2 * i, 2 * i + 2));
    return { rule, file: `shared/pages/${file}`, changes: pairs as unknown as BrokenRule["changes"] };
  });

/** Each of these must be noticed by a test: random schedules alone hardly notice some. */
export const brokenRules: readonly BrokenRule[] = [
  ...broken("maintain/advance.ts", [
    [
      "rows are read after the clock",
      "const clock = Date.now();",
      "const early = await readRows(owner, { start: root.watermark, maxRows: limits.rowsAtOnce });\n  const clock = Date.now();",
      "await retry(() => readRows(owner, { start: root.watermark, maxRows: limits.rowsAtOnce }));",
      "early;",
    ],
    [
      "the clock is read after the root",
      "let root = (await retry(() => readRoot(owner))) ?? emptyRoot(Date.now());",
      "const clock = Date.now();\n  let root = (await retry(() => readRoot(owner))) ?? emptyRoot(clock);",
      `  // Not earlier: the watermark of another commit would seem to lie in the future.
  const clock = Date.now();
`,
      "",
    ],
    [
      "rows are as old as writes may be late",
      "keyAt(owner.list, clock - limits.allowedLateness);",
      "keyAt(owner.list, clock);",
    ],
    [
      "clocks differ",
      "keyAt(owner.list, clock - limits.allowedLateness + limits.skew);",
      "keyAt(owner.list, clock - limits.allowedLateness);",
    ],
    [
      "a changed row that may be known raises the version",
      "inside.length === 0 && !mayBeKnown &&",
      "inside.length === 0 &&",
    ],
    [
      "a changed row that may be known raises changedAt",
      "mayBeKnown ? raised(root, clock) : root.changedAt",
      "root.changedAt",
    ],
    ["a watermark that goes back raises changedAt", ", changedAt: raised(root, clock) };", " };"],
    ["a watermark that is far ahead goes back", "if (root.watermark > furthest &&", "if (false &&"],
    [
      "the watermark never passes rows that were not read",
      "?? earliest(tail.next ?? horizon, horizon)",
      "?? horizon",
    ],
    [
      "deleted rows leave the tree",
      "cell: states.get(sk)?.cell }));",
      "cell: states.get(sk)?.cell ?? 0 }));",
    ],
  ]),
  ...broken("maintain/advance-sublist.ts", [
    [
      "a changed row that may be read raises the version",
      "if (isChanged || !isSame(root, edited))",
      "if (!isSame(root, edited))",
    ],
    [
      "a row that is set moves the watermark",
      "newest === undefined ? root.watermark : latest",
      "true ? root.watermark : latest",
    ],
    [
      "a created row before those that are fed is set",
      "const inside = sks.filter((sk) => sk < end);",
      "const inside = isChanged ? sks.filter((sk) => sk < end) : [];",
    ],
    [
      "a tree that is filled has no row past its watermark",
      "root.filling === undefined ? latest(root.watermark, fed) : root.watermark",
      "latest(root.watermark, fed)",
    ],
    [
      "a changed row before those that are fed is set",
      "root.filling === undefined ? latest(root.watermark, fed) : root.watermark",
      "root.watermark",
    ],
    ["a row that has moved leaves the tree", "state?.origin === owner.origin", "state"],
    ["filling ends with the last row", "stop === undefined ? undefined : root.filling", "undefined"],
    ["filling goes as far as the list has fed", 'latest(root.filling, whole?.fed ?? "")', "root.filling"],
    [
      "filling reads the list after the sublist",
      `const root = await retry(() => readRoot(owner));
  if (root?.filling === undefined) return false;
  // Not earlier: a feed that raises it commits to the sublist before.
  const whole = await retry(() => readRoot({ account, list }));`,
      `const whole = await retry(() => readRoot({ account, list }));
  const root = await retry(() => readRoot(owner));
  if (root?.filling === undefined) return false;`,
    ],
  ]),
  ...broken("maintain/feed.ts", [
    ["a feed reads the list again", "if (now?.version !== root.version) throw", "if (now === null) throw"],
    ["a feed moves the watermark", "latest(tree.watermark, rest[0]?.sk ?? end)", "tree.watermark"],
    [
      "a feed that is cut moves the watermark as far as its rows",
      "latest(tree.watermark, rest[0]?.sk ?? end)",
      "latest(tree.watermark, end)",
    ],
    ["a feed raises filling", "const filling = latest(tree.filling, end);", "const { filling } = tree;"],
    [
      "a feed does not set rows in a tree that is filled",
      "if (tree.filling !== undefined) {",
      "if (false) {",
    ],
  ]),
  ...broken("maintain/empty-tree.ts", [
    [
      "an emptied tree is filled",
      "origin === undefined ? undefined : earliest(ends.reduce(latest), keyAt(list, clock))",
      "undefined",
    ],
    ["an emptied tree is filled with what the list counts", "whole?.watermark ??", "undefined ??"],
  ]),
  ...broken("maintain/maintain-list.ts", [
    [
      "the list's commit comes first, and tells what is fed",
      'const { fed = "", expiresAt } = (progress as Progress | undefined)?.root ?? {};',
      'const { expiresAt } = (progress as Progress | undefined)?.root ?? {};\n      const fed = "";',
    ],
  ]),
  ...broken("maintain/changes.ts", [
    ["a back-dated row is a changed one", "OldImage || late ?", "OldImage ?"],
    ["the sublists before and after a change", "= [OldImage, NewImage]", "= [NewImage]"],
  ]),
  ...broken("tree/tree-store.ts", [
    ["a commit has the condition of its root", "...rootItem(next) }, condition);", "...rootItem(next) });"],
    ["a record tells a lost root from none", 'renews ? {} : isAsRead("pk", undefined)', "{}"],
    ["no sublist is ahead of the clock", "owner.origin !== undefined && isAhead(owner, root)", "false"],
    ["an entry is the sum of its node", "level === 1) && isSum(entry, entries))", "level === 1))"],
  ]),
  ...broken("tree/root.ts", [
    ["an emptied tree has a generation of its own", "Math.max(clock, generation + 1)", "generation"],
  ]),
  ...broken("read/tail.ts", [
    [
      "the newest rows are not remembered",
      "memory && earliest(memory.until, latest(start, span.to))",
      "memory?.until",
      "keys: settled.filter((sk) => sk < end)",
      "keys: [...newestKeys, ...settled].filter((sk) => sk < end)",
    ],
    [
      "rows are remembered until one is changed",
      "found?.version === memory?.version && found &&",
      "found &&",
    ],
  ]),
  ...broken("read/list-start.ts", [
    ["nothing that an index said is remembered", "root && range.index === undefined", "root"],
    ["only settled rows are remembered", "Date.now() - limits.allowedLateness", "Date.now() + 1"],
  ]),
];

/** The mutation that breaks a rule. */
export function toMutation(source: string, { file, changes }: BrokenRule): Mutation {
  let text = source;
  for (const [from, to] of changes) {
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`${file} has not once: ${from}`);
    text = parts.join(to);
  }
  let start = 0;
  while (source[start] === text[start]) start++;
  let same = 0;
  while (same < Math.min(source.length, text.length) - start && source.at(-1 - same) === text.at(-1 - same))
    same++;
  return { start, end: source.length - same, replacement: text.slice(start, text.length - same) };
}
