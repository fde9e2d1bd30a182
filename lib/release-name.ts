import { execFileSync } from "node:child_process";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };

/** What the bundles of the functions are built from. */
export const codePaths = ["functions", "shared", "lib/bundling", "package-lock.json"];

/**
 * The name of the release that is checked out: version and commit, such as `1.0.0+ab12cd3`, and `.modified` if a file
 * differs from the commit. RELEASE_COMMIT replaces the part after the `+`, for example where git is missing.
 *
 * @param paths if given, the name has the last commit that changed one of these paths, so other commits keep the name
 */
export const releaseName = (paths: readonly string[] = []) =>
  `${manifest.version}+${process.env.RELEASE_COMMIT || describeCommit(paths)}`;

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
