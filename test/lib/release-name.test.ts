import { execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { releaseName } from "../../lib/release-name.ts";
import manifest from "../../package.json" with { type: "json" };
import { createDirectory } from "../support/synthesize.ts";

afterEach(() => void vi.unstubAllEnvs());

test("RELEASE_COMMIT names the commit where git is missing", () => {
  vi.stubEnv("RELEASE_COMMIT", "0123456");
  expect(releaseName()).toBe(`${manifest.version}+0123456`);
});

test.each([
  "feature branch/1",
  "a".repeat(65),
  "Größe",
])("RELEASE_COMMIT %j, which no tag can hold, is refused", (commit) => {
  vi.stubEnv("RELEASE_COMMIT", commit);
  expect(releaseName).toThrow("RELEASE_COMMIT must have 1 to 64 letters");
});

test("the name has the commit of the checkout, and says that files differ from it", async () => {
  const directory = await createDirectory();
  for (const file of ["lib/release-name.ts", "lib/user-error.ts"])
    cpSync(join(import.meta.dirname, "../..", file), join(directory, file));
  writeFileSync(join(directory, "package.json"), '{ "version": "1.2.3" }');
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
      cwd: directory,
      encoding: "utf8",
    }).trim();
  const program = `import { releaseName } from "./lib/release-name.ts"; console.log(releaseName());`;
  const name = () =>
    execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: directory,
      encoding: "utf8",
      env: { ...process.env, RELEASE_COMMIT: "", GIT_CEILING_DIRECTORIES: join(directory, "..") },
    }).trim();
  expect(name()).toBe("1.2.3+unknown");
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "First");
  git("tag", "v1.2.3");
  const commit = git("rev-parse", "--short=7", "HEAD");
  expect(name()).toBe(`1.2.3+${commit}`);
  writeFileSync(join(directory, "package.json"), '{ "version": "1.2.4" }');
  expect(name()).toBe(`1.2.4+${commit}.modified`);
});
