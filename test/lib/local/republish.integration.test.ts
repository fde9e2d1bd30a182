import { describe, expect, test } from "vitest";
import { request } from "../../support/api.ts";
import { compareEvent } from "../../support/document.ts";
import { startEventBus } from "../../support/event-bus.ts";
import { validateDetail } from "../../support/event-validators.ts";
import { ops } from "../../support/ops.ts";
import { storeLead } from "../ops/events/support.ts";
import { startConnector } from "./support/connector.ts";
import { issueKey, startRun } from "./support/run.ts";
import { temporaryDirectory } from "./support/stack.ts";

const account = "acme";

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("events that are sent again", () => {
  test("are the first ones, but for the mark", async () => {
    const dataDirectory = await temporaryDirectory();
    const connector = await startConnector(() => 204);
    const run = await startRun(dataDirectory, { eventsUrl: connector.url, maxEnvironments: 2 });
    const since = new Date().toISOString();
    for (const name of [account, "neighbour"]) {
      const apiKey = await issueKey(run, name);
      for (const [i, body] of [
        { name: "Ada" },
        { name: "Bob", email: "bob@example.com", source: "web" },
      ].entries()) {
        const lead = await request(run, "create-lead", { apiKey, body });
        for (const [channel, message] of [
          ["whatsapp", `Hello ${i}`],
          ["whatsapp", `Again ${i} 👋 "\n`],
          ["instagram", `Elsewhere ${i}`],
        ])
          await request(run, "send-message", { apiKey, body: { leadId: lead.body.id, channel, message } });
      }
    }
    await storeLead(account, Date.now(), { imported: "run" });
    const expected = 2 * (2 + 4 + 6);
    await expect.poll(() => connector.delivered.size, { timeout: 30_000 }).toBe(expected);
    const first = new Map([...connector.delivered].map(([id, { detail }]) => [id, detail]));
    connector.received.length = 0;

    const log: string[] = [];
    const bus = await startEventBus({ eventsUrl: connector.url, log: (line) => log.push(line) });
    const env = {
      AWS_ENDPOINT_URL_DYNAMODB: run.dynamodbEndpoint,
      AWS_ENDPOINT_URL_EVENTBRIDGE: bus,
      ...{ AWS_REGION: "local", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
    };
    const args = ["events", "republish", "--account", account, "--since", since, "--json"];
    const named = [...args, "--table", run.tableName, "--bus", "events-test"];
    const { code, stdout, stderr } = await ops(named, { dataDirectory, env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const events = { "lead.created": 2, "conversation.started": 4, "message.sent": 6 };
    expect(JSON.parse(stdout)).toMatchObject({ republished: true, events });

    const details = connector.received.map(({ detail }) => detail);
    const own = [...first.values()].filter((detail) => detail.account === account);
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect(details.toSorted(byId)).toEqual(
      own.map((detail) => ({ ...detail, repeated: true })).toSorted(byId),
    );
    expect(own).toHaveLength(expected / 2);
    expect(
      connector.received.flatMap((event) => [
        ...(validateDetail(event.detail) ?? []),
        ...compareEvent(event),
      ]),
    ).toEqual([]);
    expect(log).toContain(`[events] message.sent ${details.at(-1)?.id}`);
  }, 120_000);
});
