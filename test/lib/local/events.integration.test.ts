import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { selectEngineTable } from "../../../lib/local/engine/dynamodb-client.ts";
import { type LocalRun, startLocal } from "../../../lib/local/local-run.ts";
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

/** The position of an event is saved a moment after the event was delivered. */
async function untilUnchanged(file: string): Promise<void> {
  const read = () => readFile(file, "utf8");
  for (let text = await read(), before = ""; text !== before; text = await read()) {
    before = text;
    await setTimeout(300);
  }
}

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("the events of a run", () => {
  test("all reach a connector that fails at first, and none a second time after a restart", async () => {
    const directory = await temporaryDirectory();
    let failing = true;
    const connector = await startConnector(() => (failing ? 503 : 200));
    const first = await start(directory, connector.url);
    selectEngineTable(first.dynamodbEndpoint, first.tableName);
    const { apiKey } = await issueApiKey("acme");
    const lead = { name: "Ada Lovelace", email: "ada@example.com", source: "instagram", tags: ["important"] };
    const { body: created } = await request(first, "create-lead", { apiKey, body: lead });
    const send = async (run: LocalRun, message: string) => {
      const body = { leadId: created.id, channel: "whatsapp", message };
      // On a busy machine, the first requests may fail.
      const headers = { "idempotency-key": message.replaceAll(/\W/g, "-") };
      const attempt = () => request(run, "send-message", { apiKey, body, headers });
      await expect.poll(async () => (await attempt()).status).toBe(201);
      return (await attempt()).body;
    };
    const hello = await send(first, "Hello Ada, this is the first message");
    await expect.poll(() => connector.received.length).toBeGreaterThan(1);
    expect(connector.delivered.size).toBe(0);
    failing = false;
    const later = await send(first, "Hello again, this is the second message");
    const ids = [created.id, hello.conversationId, hello.id, later.id];
    await expect.poll(() => new Set(connector.delivered.keys())).toEqual(new Set(ids));
    for (const event of connector.delivered.values()) {
      expect(validateDetail(event.detail)).toEqual([]);
      expect(compareEvent(event)).toEqual([]);
      expect(event).toMatchObject({ source: "leads-and-conversations", "detail-type": event.detail.type });
    }
    await untilUnchanged(join(directory, "stream.json"));
    await first.stop();

    // Accepted events are not delivered again, because the position was saved: the next one is the first.
    connector.received.length = 0;
    const second = await start(directory, connector.url);
    const last = await send(second, "The third message");
    await expect.poll(() => connector.received.map(({ detail }) => detail.id)).toEqual([last.id]);
    await second.stop();

    const log = [...first.log, ...second.log];
    expect(log).toContain(`[events] message.sent ${later.id}`);
    expect(log.some((line) => line.includes("failed and is retried: the connector responded with 503"))).toBe(
      true,
    );
    expect(findLeaks(log, [lead.name, lead.email, lead.source, hello.message, later.message])).toEqual([]);
  });
});
