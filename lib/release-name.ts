import { execFileSync } from "node:child_process";
import manifest from "../package.json" with { type: "json" };
import { UserError } from "./user-error.ts";

/**
 * The name of the release that is checked out: version and commit, such as `1.0.0+ab12cd3`, and `.modified` if a file
 * differs from the commit. Where git is missing, RELEASE_COMMIT names the commit.
 *
 * @throws UserError for a RELEASE_COMMIT that a tag cannot hold
 */
export function releaseName(): string {
  const commit = process.env.RELEASE_COMMIT || describeCommit();
  if (/^[\w.-]{1,64}$/.test(commit)) return `${manifest.version}+${commit}`;
  throw new UserError(
    "RELEASE_COMMIT must have 1 to 64 letters, digits, '_', '.' or '-', such as a commit's SHA.",
  );
}

function describeCommit(): string {
  const args = ["describe", "--always", "--abbrev=7", "--exclude=*", "--dirty=.modified"];
  try {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    return execFileSync("git", args, {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: [...stdio],
    }).trim();
  } catch {
    return "unknown";
  }
}
