import { execFileSync, spawnSync } from "node:child_process";
import { watch } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { fetchChecked } from "../../support/requests/checked-fetch.ts";
import { copyProject } from "../../support/stack/project-copy.ts";
import { temporaryDirectory } from "../../support/stack/temporary-directory.ts";
import { canSeeProcesses, expectLocalOnly, findEngines } from "./support/linux.ts";
import { freePort, isOpen, signalProcess, startCommand, untilServing } from "./support/process.ts";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

function start(env: Record<string, string>, options?: Parameters<typeof startCommand>[1]) {
  const command = startCommand(env, options);
  onTestFinished(command.stop);
  return command;
}

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("npm start", () => {
  test("serves a stage until Ctrl-C or the end of its engine, and keeps its data and its key", async () => {
    const staging = {
      ...{ account: "123456789012", region: "eu-central-1" },
      ...{ rateLimitRequests: 600, deployment: "canary" },
    };
    const cwd = await copyProject({ staging });
    const directory = join(cwd, ".local/stages/staging");
    const port = await freePort();
    const startStage = () => start({ PORT: String(port) }, { args: ["--stage", "staging"], cwd });
    const first = startStage();
    await untilServing(first);
    expect(first.output()).toContain("with the settings of stages/staging.json");
    const apiKey = (await readFile(join(directory, "api-key"), "utf8")).trim();
    expect(first.output()).toContain(apiKey);
    // No other user can reach a file in it.
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, "api-key"))).mode & 0o777).toBe(0o600);
    const run = JSON.parse(await readFile(join(directory, "run.json"), "utf8"));
    expect(run).toMatchObject({
      ...{ url: `http://127.0.0.1:${port}`, tableName: "leads-and-conversations-staging" },
    });
    for (const url of [run.url, run.dynamodbEndpoint]) await expectLocalOnly(url);

    const listed = async () => {
      const headers = { authorization: `Bearer ${apiKey}` };
      const response = await fetchChecked(`${run.url}/api/v1/leads`, { headers });
      expect(response.headers.get("ratelimit-policy")).toBe('"account";q=600;w=60');
      return ((await response.json()) as { pagination: { total: number } }).pagination.total;
    };
    // On a busy machine, the first requests may fail.
    await expect.poll(listed).toBe(0);
    if (hasCurl) {
      const curls = first
        .output()
        .split("\n")
        .filter((line) => line.trim().startsWith("curl "));
      expect(curls).toHaveLength(2);
      const [create, list] = curls.map(
        (line) => () => JSON.parse(execFileSync("/bin/sh", ["-c", line], { stdio: "pipe" }).toString()),
      );
      let lead: object | undefined;
      await expect.poll(() => (lead = create?.())).toHaveProperty("id");
      await expect.poll(() => list?.().data).toContainEqual(lead);
      await expect.poll(first.output).toMatch(/POST \/api\/v1\/leads 201 \d+ ms demo /);
      await expect.poll(first.output).toContain("lead.created");
      // The next run continues after the delivered records.
      const positions = async () => JSON.parse(await readFile(join(directory, "stream.json"), "utf8"));
      await expect.poll(async () => Object.keys(await positions())).toHaveLength(2);
    }

    const total = await listed();
    signalProcess(first.pid, "SIGINT");
    expect(await first.ended).toBe("SIGINT");

    const second = startStage();
    await untilServing(second);
    expect(second.output()).toContain(apiKey);
    await expect.poll(listed).toBe(total);

    if (!canSeeProcesses) return;
    const engines = findEngines(join(directory, "dynamodb.sqlite"));
    expect(engines).toHaveLength(1);
    for (const pid of engines) signalProcess(pid, "SIGKILL");
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain("The embedded DynamoDB ended by itself");
  });

  test("ends at once, with its engine, when it is interrupted during its start", async () => {
    const directory = await temporaryDirectory();
    const command = start({ DATA_DIR: directory, PORT: "0" });
    const watcher = watch(directory, (_, name) => {
      if (name === "stack") signalProcess(command.pid, "SIGINT");
    });
    onTestFinished(() => watcher.close());
    expect(await command.ended).toBe("SIGINT");
    await expect.poll(() => isOpen(join(directory, "dynamodb.sqlite"))).toBe(false);
  });

  test("reports a mistake in one sentence", async () => {
    const command = start({ DATA_DIR: "/dev/null" });
    expect(await command.ended).toBe(1);
    expect(command.output().trim()).toMatch(
      /^Starting …\nThe data directory \/dev\/null cannot be used .* set DATA_DIR to another one\.$/,
    );
  });
});
