import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { copyProject } from "../../support/project-copy.ts";
import { signalProcess, startCommand, untilServing } from "./support/process.ts";

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("npm start -- --stage", () => {
  test("serves a stage that belongs to an AWS account and has CORS, with data of its own", async () => {
    const staging = {
      ...{ like: "dev", account: "123456789012", region: "eu-central-1" },
      ...{ rateLimitRequests: 70, corsOrigins: ["https://app.example.com"] },
      deployment: "canary",
    };
    const cwd = await copyProject({ staging });
    const command = startCommand({ PORT: "0" }, { args: ["--stage", "staging"], cwd });
    onTestFinished(async () => {
      signalProcess(command.pid, "SIGTERM");
      await command.ended;
    });
    await untilServing(command);
    expect(command.output()).toContain("The local run has no CORS: corsOrigins has no effect here.");
    expect(command.output()).toContain("with the settings of stages/staging.json");
    const directory = join(cwd, ".local/stages/staging");
    const { url, tableName } = JSON.parse(await readFile(join(directory, "run.json"), "utf8"));
    expect(tableName).toBe("leads-and-conversations-staging");
    const apiKey = (await readFile(join(directory, "api-key"), "utf8")).trim();
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const create = await fetch(`${url}/api/v1/leads`, { method: "POST", headers, body: '{"name":"Ada"}' });
    expect([create.status, create.headers.get("ratelimit-policy")]).toEqual([201, '"account";q=70;w=60']);
    const list = async () => (await fetch(`${url}/api/v1/leads`, { headers })).json();
    // On a busy machine, the first one may fail.
    await expect.poll(list).toMatchObject({ pagination: { total: 1 } });
    await expect.poll(command.output).toContain("lead.created");
  });
});
