import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { request } from "../../../support/api.ts";
import { copyTable } from "../../../support/copied-table.ts";
import { ops } from "../../../support/ops.ts";
import { remove, tableItems } from "../../../support/table-items.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { startConnector } from "../../local/support/connector.ts";
import { issueKey, startRun } from "../../local/support/run.ts";
import { expectConsistent, restoredItems } from "./support/restored-items.ts";
import { aFilledAccount, spoil } from "./support/spoiled-account.ts";

const channels = ["whatsapp", "email", "instagram"];

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("while the API serves", () => {
  test("an account is copied back without a failed request; counts follow, and connectors get no event again", async () => {
    const dataDirectory = await temporaryDirectory();
    const connector = await startConnector(() => 200);
    const run = await startRun(dataDirectory, { eventsUrl: connector.url, maxEnvironments: 3 });
    const [acme, other] = [await issueKey(run, "acme"), await issueKey(run, "acme-1")];
    const data = await aFilledAccount("acme");
    const otherData = await aFilledAccount("acme-1");
    const from = await copyTable();
    const before = restoredItems(await tableItems(), "acme");
    // A text that differs would be left as it is.
    await remove(await spoil(data));
    const command = async (...args: string[]) => {
      const outcome = await ops([...args, "--local", "--json"], { dataDirectory });
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      return JSON.parse(outcome.stdout);
    };

    const statuses = new Map<string, number>();
    const sent: string[] = [];
    let stopped = false;
    const client = async (apiKey: string, leads: readonly string[]) => {
      const created: string[] = [];
      for (let i = 0; !stopped; i++) {
        const headers = { "idempotency-key": randomUUID() };
        const note = (name: string, { status }: { status: number }) =>
          statuses.set(`${name}: ${status}`, (statuses.get(`${name}: ${status}`) ?? 0) + 1);
        const lead = await request(run, "create-lead", {
          apiKey,
          body: { name: "New", source: "fair" },
          headers,
        });
        note("create-lead", lead);
        created.push(lead.body.id);
        for (const leadId of [leads[i % leads.length] ?? "", created[Math.floor(i / 2)] ?? ""]) {
          const body = { leadId, channel: channels[i % channels.length], message: "Hello" };
          const message = await request(run, "send-message", { apiKey, body });
          note("send-message", message);
          sent.push(message.body.id);
        }
        note("list-leads", await request(run, "list-leads", { apiKey, query: "source=fair" }));
        note(
          "list-conversations",
          await request(run, "list-conversations", { apiKey, query: `leadId=${leads[0]}` }),
        );
        // Fewer and fewer, as the commands take some seconds.
        await setTimeout(Math.min(200 + 200 * i, 5000));
      }
      return created;
    };
    const clients = [
      client(acme, [data.grace.id]),
      client(acme, [data.grace.id]),
      client(other, [otherData.ada.id, otherData.grace.id]),
    ];
    await expect.poll(() => sent.length).toBeGreaterThan(30);
    const args = ["accounts", "copy", "--account", "acme", "--from-table", from, "--replace"];
    // The traffic has started a conversation in place of one whose pointer was deleted, which is closed.
    for (const option of ["--dry-run", "--yes"])
      expect(await command(...args, option)).toMatchObject({ stored: 4, replaced: 3, left: 0 });
    stopped = true;
    const created = (await Promise.all(clients)).flat();

    expect([...statuses.keys()].sort()).toEqual([
      ...["create-lead: 201", "list-conversations: 200", "list-leads: 200", "send-message: 201"],
    ]);
    const { items, leads } = await expectConsistent("acme");
    for (const [key, item] of Object.entries(before)) {
      expect(items).toHaveProperty([key]);
      // The clients sent messages to the other lead.
      const { imported, ...restored } = items[key] ?? {};
      if (!JSON.stringify(item).includes(data.grace.id)) expect(restored).toEqual(item);
    }
    for (const account of ["acme", "acme-1"]) {
      await expectConsistent(account);
      expect(await command("counts", "verify", "--account", account)).toEqual([]);
    }
    const ids = new Set([...(await tableItems()).values()].map(({ id }) => id));
    for (const id of [...sent, ...created]) expect(ids).toContain(id);
    const listed = async () => (await request(run, "list-leads", { apiKey: acme, query: "limit=1" })).body;
    await expect.poll(async () => (await listed()).pagination.total).toBe(leads.size);

    const count = () =>
      connector.received.filter(
        ({ detail }) =>
          detail.type === "message.sent" || (detail.type === "lead.created" && !detail.imported),
      ).length;
    await expect.poll(count).toBe(sent.length + created.length);
    const told = new Set(connector.received.map(({ detail }) => detail.id));
    for (const id of [...sent, ...created]) expect(told).toContain(id);
  }, 240_000);
});
