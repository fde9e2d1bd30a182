import { execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { releaseName } from "../../lib/release-name.ts";
import manifest from "../../package.json" with { type: "json" };
import { createDirectory } from "../support/stack/synthesize.ts";

afterEach(() => void vi.unstubAllEnvs());

test("RELEASE_COMMIT names the commit where git is missing", () => {
  vi.stubEnv("RELEASE_COMMIT", "0123456");
  expect(releaseName()).toBe(`${manifest.version}+0123456`);
});

test("the name contains the last commit, of all files or of some paths, and marks files that differ from it", async () => {
  const directory = await createDirectory();
  cpSync(join(import.meta.dirname, "../../lib/release-name.ts"), join(directory, "lib/release-name.ts"));
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text);
  write("package.json", '{ "version": "1.2.3" }');
  write("lib/code.ts", "");
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, {
      cwd: directory,
      encoding: "utf8",
      env: { ...process.env, RELEASE_COMMIT: "", GIT_CEILING_DIRECTORIES: join(directory, "..") },
    }).trim();
  const git = (...args: string[]) =>
    run("git", "-c", "user.name=t", "-c", "user.email=t@example.com", ...args);
  const commit = (message: string) => {
    git("add", ".");
    git("commit", "--quiet", "--message", message);
    return git("rev-parse", "--short=7", "HEAD");
  };
  const program = `import { releaseName } from "./lib/release-name.ts"; console.log(releaseName(), releaseName(["lib"]));`;
  const names = () => run(process.execPath, "--input-type=module", "-e", program);
  expect(names()).toBe("1.2.3+unknown 1.2.3+unknown");
  git("init", "--quiet");
  const code = commit("The code");
  git("tag", "v1.2.3");
  expect(names()).toBe(`1.2.3+${code} 1.2.3+${code}`);
  write("README.md", "A page");
  const page = commit("A page");
  expect(names()).toBe(`1.2.3+${page} 1.2.3+${code}`);
  write("package.json", '{ "version": "1.2.4" }');
  expect(names()).toBe(`1.2.4+${page}.modified 1.2.4+${code}`);
  write("lib/code.ts", "// Changed");
  expect(names()).toBe(`1.2.4+${page}.modified 1.2.4+${code}.modified`);
});
