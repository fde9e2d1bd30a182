import { execFileSync } from "node:child_process";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { UserError } from "./user-error.ts";

/** What the bundles of the functions are built from. */
export const codePaths = ["functions", "shared", "lib/bundling", "package-lock.json"];

/**
 * The name of the release that is checked out: version and commit, such as `1.0.0+ab12cd3`, and `.modified` if a file
 * differs from the commit. RELEASE_COMMIT replaces the part after the `+`, for example where git is missing.
 *
 * @param paths if given, the name has the last commit that changed one of these paths, so other commits keep the name
 * @throws UserError for a RELEASE_COMMIT that a name cannot contain
 */
export function releaseName(paths: readonly string[] = []): string {
  const commit = process.env.RELEASE_COMMIT || describeCommit(paths);
  if (/^[\w.-]{1,64}$/.test(commit)) return `${manifest.version}+${commit}`;
  throw new UserError(
    "RELEASE_COMMIT must have 1 to 64 letters, digits, '_', '.' or '-', such as a commit's SHA.",
  );
}

function describeCommit(paths: readonly string[]): string {
  try {
    const commit =
      git("rev-list", "-1", "--abbrev-commit", "--abbrev=7", "HEAD", "--", ...paths) || "unknown";
    return git("diff", "--name-only", "HEAD", "--", ...paths) ? `${commit}.modified` : commit;
  } catch {
    return "unknown";
  }
}

const git = (...args: string[]) =>
  execFileSync("git", args, {
    cwd: join(import.meta.dirname, ".."),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
