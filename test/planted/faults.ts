import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A mistake of a maintainer, planted on purpose: a test must notice it. */
export interface Fault {
  /** The source, from the root of the project. */
  readonly file: string;
  /** What it breaks, for a user, an operator or the documentation. */
  readonly why: string;
  /** Texts that the source has exactly once, and others in place of them. */
  readonly changes: readonly (readonly [from: string, to: string])[];
}

/** All planted faults, by the files of `faults/`. */
export const faults: readonly Fault[] = globSync("*.json", { cwd: join(import.meta.dirname, "faults") })
  .sort()
  .flatMap((name) => JSON.parse(readFileSync(join(import.meta.dirname, "faults", name), "utf8")) as Fault[]);

/** The source with a fault. @throws Error that names the text that the source does not have exactly once */
export function plant(source: string, { file, why, changes }: Fault): string {
  return changes.reduce((text, [from, to]) => {
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times "${from}", for: ${why}`);
    return parts.join(to);
  }, source);
}
