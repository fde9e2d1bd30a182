import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { copyProject } from "../../support/stack/project-copy.ts";
import { freePort, startCommand, untilServing } from "./support/process.ts";

const timeout = { timeout: 60_000, interval: 100 };

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("npm run dev", () => {
  test("serves changed code and settings with the same data, and waits while a source is broken", {
    // Each change synthesizes the stack, which takes long on a busy machine.
    timeout: 240_000,
  }, async () => {
    const dev = { removalPolicy: "destroy" } as const;
    const cwd = await copyProject({ dev: { ...dev, rateLimitRequests: 6000 } });
    const port = await freePort();
    const { scripts } = JSON.parse(await readFile(join(cwd, "package.json"), "utf8"));
    const [program, ...args] = scripts.dev.replace("exec node ", "").split(" ");
    const command = startCommand(
      { DATA_DIR: join(cwd, ".local"), PORT: String(port) },
      { cwd, program, args },
    );
    onTestFinished(command.stop);
    await untilServing(command);
    const url = `http://127.0.0.1:${port}/api/v1/leads`;
    const key = (await readFile(join(cwd, ".local", "api-key"), "utf8")).trim();
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const create = (name: string) =>
      fetch(url, { method: "POST", headers, body: JSON.stringify({ name }) }).catch(() => undefined);
    const edit = async (file: string, from: string, to: string) => {
      const text = await readFile(join(cwd, file), "utf8");
      expect(text).toContain(from);
      // Editors save by renaming a new file. Later changes of the file must also be noticed.
      await writeFile(join(cwd, `${file}.new`), text.replace(from, to));
      await rename(join(cwd, `${file}.new`), join(cwd, file));
    };

    const longest = "x".repeat(200);
    for (const name of ["First", longest]) expect((await create(name))?.status).toBe(201);
    await edit("shared/schemas/field-schemas.ts", "\n  maxLength: 200", "\n  maxLength: 199");
    await expect.poll(async () => (await create(longest))?.status, timeout).toBe(400);

    await edit("shared/domain/create-lead.ts", 'status: "new",', 'status: "new" +,');
    await expect.poll(command.output, timeout).toMatch(/shared\/domain\/create-lead\.ts:\d+:\d+: ERROR/);
    await edit("shared/domain/create-lead.ts", 'status: "new" +,', 'status: "new",');
    await edit("stages/dev.json", '"rateLimitRequests":6000', '"rateLimitRequests":5999');
    await expect
      .poll(async () => (await create("Ada"))?.headers.get("ratelimit-policy"), timeout)
      .toBe('"account";q=5999;w=60');
    const leads = (await (await fetch(url, { headers })).json()) as { data: { name: string }[] };
    expect(leads.data.map(({ name }) => name)).toContain("First");
    expect(command.output()).not.toMatch(/ended by itself|was stopped/);
  });
});
