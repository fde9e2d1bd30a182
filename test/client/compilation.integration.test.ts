import { execFile } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/stack/temporary-directory.ts";

const run = promisify(execFile);
const directory = join(import.meta.dirname, "../../docs/client");
const read = (name: string) => readFile(join(directory, name), "utf8");

const bin = (name: string) => join(directory, "node_modules", name);
const compile = (cwd: string) => run(process.execPath, [bin("typescript/bin/tsc")], { cwd });

test("the client has the types of the OpenAPI document, and compiles with them", async () => {
  const generate = [bin("openapi-typescript/bin/cli.js"), "../openapi.json"];
  const { stdout } = await run(process.execPath, generate, { cwd: directory, maxBuffer: 10_000_000 });
  expect(stdout).toContain(await read("api.d.ts"));
  await compile(directory);
});

test("the client compiles in another program as its README uses it, without packages and with strict rules", async () => {
  const program = await temporaryDirectory();
  for (const file of ["client.ts", "api.d.ts", "recipes.ts"])
    await cp(join(directory, file), join(program, file));
  const examples = [...(await read("README.md")).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
  expect(examples).toHaveLength(2);
  const before = [
    'import { createClient } from "./client.ts";',
    'import { findOrCreateLead } from "./recipes.ts";',
    "declare const process: { env: { API_KEY?: string } };",
    "declare const form: { name: string; email: string };",
  ];
  await writeFile(join(program, "example.ts"), [...before, ...examples].join("\n"));
  const compilerOptions = {
    ...{ target: "ES2022", lib: ["ES2022", "DOM"], types: [], module: "ESNext", moduleResolution: "bundler" },
    ...{
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
    },
    ...{ noImplicitOverride: true, noPropertyAccessFromIndexSignature: true, verbatimModuleSyntax: true },
    ...{ noEmit: true, allowImportingTsExtensions: true },
  };
  await writeFile(join(program, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  await compile(program);
});
