import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { selectEngineTable } from "../../../lib/local/engine/dynamodb-client.ts";
import { startLocal } from "../../../lib/local/local-run.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { request } from "../../support/api.ts";
import { compareEvent } from "../../support/document.ts";
import { validateDetail } from "../../support/event-validators.ts";
import { findLeaks } from "../../support/leaks.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startConnector } from "./support/connector.ts";

/** Starts the whole service on an engine of its own; it stops at the end of the test. */
async function start(dataDirectory: string, eventsUrl: string) {
  const log: string[] = [];
  const run = await startLocal({
    ...{ dataDirectory, eventsUrl, templateDirectory: inject("engine").assembly },
    ...{ enginePort: 0, maxEnvironments: 2, throttling: false, log: (line: string) => log.push(line) },
  });
  onTestFinished(() => run.stop());
  return { ...run, log };
}

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("the events of a run", () => {
  test("all reach a connector that fails at first, and their positions are saved", async () => {
    const directory = await temporaryDirectory();
    let failing = true;
    const connector = await startConnector(() => (failing ? 503 : 200));
    const first = await start(directory, connector.url);
    selectEngineTable(first.dynamodbEndpoint, first.tableName);
    const { apiKey } = await issueApiKey("acme");
    const lead = { name: "Ada Lovelace", email: "ada@example.com", source: "instagram", tags: ["important"] };
    const post = async <Name extends "create-lead" | "send-message">(route: Name, body: object) => {
      // On a busy machine, the first requests may fail.
      const headers = { "idempotency-key": randomUUID() };
      const attempt = () => request(first, route, { apiKey, body, headers });
      await expect.poll(async () => (await attempt()).status).toBe(201);
      return (await attempt()).body;
    };
    const created = await post("create-lead", lead);
    const send = (message: string) =>
      post("send-message", { leadId: created.id, channel: "whatsapp", message });
    const hello = await send("Hello Ada, this is the first message");
    await expect.poll(() => connector.received.length).toBeGreaterThan(1);
    expect(connector.delivered.size).toBe(0);
    failing = false;
    const later = await send("Hello again, this is the second message");
    const ids = [created.id, hello.conversationId, hello.id, later.id];
    await expect.poll(() => new Set(connector.delivered.keys())).toEqual(new Set(ids));
    for (const event of connector.delivered.values()) {
      expect(validateDetail(event.detail)).toEqual([]);
      expect(compareEvent(event)).toEqual([]);
      expect(event).toMatchObject({ source: "leads-and-conversations", "detail-type": event.detail.type });
    }
    // The next run goes on behind what was delivered.
    const positions = async () =>
      Object.keys(JSON.parse(await readFile(join(directory, "stream.json"), "utf8")));
    await expect.poll(positions).toHaveLength(2);
    const { log } = first;
    expect(log).toContain(`[events] message.sent ${later.id}`);
    expect(log.some((line) => line.includes("failed and is retried: the connector responded with 503"))).toBe(
      true,
    );
    expect(findLeaks(log, [lead.name, lead.email, lead.source, hello.message, later.message])).toEqual([]);
  });
});
