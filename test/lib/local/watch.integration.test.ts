import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { copyProject } from "../../support/project-copy.ts";
import { freePort, signalProcess, startCommand, untilServing } from "./support/process.ts";

async function startWatching(cwd: string) {
  const port = await freePort();
  const env = { DATA_DIR: join(cwd, ".local"), PORT: String(port) };
  const command = startCommand(env, { cwd, args: ["--watch"] });
  onTestFinished(async () => {
    signalProcess(command.pid, "SIGTERM");
    await command.ended;
  });
  await untilServing(command);
  const url = `http://127.0.0.1:${port}`;
  const authorization = `Bearer ${(await readFile(join(cwd, ".local", "api-key"), "utf8")).trim()}`;
  const headers = { authorization, "content-type": "application/json" };
  return {
    output: command.output,
    synthesized: () => existsSync(join(cwd, ".local", "stack-next", "manifest.json")),
    create: (name: string) =>
      fetch(`${url}/api/v1/leads`, { method: "POST", headers, body: JSON.stringify({ name }) }),
    document: async () => (await fetch(`${url}/docs/openapi.json`)).text(),
    async edit(file: string, from: string, to: string) {
      const text = await readFile(join(cwd, file), "utf8");
      expect(text).toContain(from);
      await writeFile(join(cwd, file), text.replace(from, to));
    },
  };
}

const dev = {
  ...{ removalPolicy: "destroy", deletionProtection: false, pointInTimeRecovery: false },
  rateLimitRequests: 6000,
};

const timeout = { timeout: 40_000, interval: 100 };

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("npm start -- --watch", () => {
  test("serves changed code, schemas and stacks, and keeps the old ones when the new ones are broken", {
    // Each change builds or synthesizes, which takes long on a busy machine.
    timeout: 240_000,
  }, async () => {
    const { create, document, edit, output, synthesized } = await startWatching(await copyProject({ dev }));
    const longest = "x".repeat(200);
    expect((await create(longest)).status).toBe(201);

    await edit("shared/schemas/field-schemas.ts", "maxLength: 200", "maxLength: 199");
    await expect.poll(async () => (await create(longest)).status, timeout).toBe(400);
    expect(output()).toMatch(/\[watch\] shared\/schemas\/field-schemas\.ts changed: new code after \d+ ms\./);
    expect(await document()).toContain('"maxLength":199');
    // The synthesis finds the same stack; a changed one follows below.
    await expect.poll(synthesized, timeout).toBe(true);

    await edit("shared/domain/leads.ts", 'status: "new"', 'status: "new" +');
    await expect
      .poll(output, timeout)
      .toMatch(/\[watch\] After a change of shared\/domain\/leads\.ts: shared\/domain\/leads\.ts:\d+: /);
    await edit("shared/domain/leads.ts", 'status: "new" +', 'status: "new" + +');
    await expect.poll(() => output().match(/After a change of shared/g), timeout).toHaveLength(2);
    // More requests than environments, so that the code is loaded again.
    const responses = await Promise.all([1, 2, 3].map(() => create("Ada")));
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
    await edit("shared/domain/leads.ts", 'status: "new" + +', 'status: "new"');
    await expect.poll(output, timeout).toMatch(/shared\/domain\/leads\.ts changed: new code/);
    expect(output()).not.toContain("The stack changed");

    await edit("stages/dev.json", '"rateLimitRequests":6000', '"rateLimitRequests":7');
    await expect.poll(output, timeout).toContain("[watch] Serving the new stack.");
    const response = await create("Grace");
    expect(response.headers.get("ratelimit-policy")).toBe('"account";q=7;w=60');
  });
});
