import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { request } from "../../../support/api.ts";
import { compareEvent } from "../../../support/document.ts";
import { ops } from "../../../support/ops.ts";
import { tableItems } from "../../../support/table-items.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { startConnector } from "../../local/support/connector.ts";
import { issueKey, startRun } from "../../local/support/run.ts";

const channels = ["whatsapp", "email", "instagram"];

describe.skipIf(process.env.DYNAMODB_ENDPOINT)("while the API serves", () => {
  test("leads and an account are erased without a failed request; counts follow, and connectors are told once", async () => {
    const dataDirectory = await temporaryDirectory();
    const connector = await startConnector(() => 200);
    const run = await startRun(dataDirectory, { eventsUrl: connector.url, maxEnvironments: 3 });
    const command = async (...args: string[]) => {
      const outcome = await ops([...args, "--local", "--json"], { dataDirectory });
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      return JSON.parse(outcome.stdout);
    };
    const key = (account: string) => issueKey(run, account);
    const [acme, other] = [await key("acme"), await key("acme-1")];
    const create = async (apiKey: string) => {
      const body = { name: "Ada", source: "fair", email: "ada@example.com" };
      const created = await request(run, "create-lead", { apiKey, body });
      expect(created.status).toBe(201);
      return created.body.id;
    };
    const ids = await Promise.all(Array.from({ length: 12 }, () => create(acme)));
    const otherIds = await Promise.all(Array.from({ length: 20 }, () => create(other)));
    const erased = new Set(ids.slice(0, 3));
    let requests = 0;
    const sentTo = new Set<string>();
    let stopped = false;
    let pause = 100;
    const statuses = new Map<string, number>();
    const note = (what: string) => statuses.set(what, (statuses.get(what) ?? 0) + 1);
    const client = async (apiKey: string, leads: readonly string[]) => {
      for (let i = 0; !stopped; i++) {
        const leadId = leads[i] ?? leads[Math.floor(Math.random() * leads.length)] ?? "";
        const body = { leadId, channel: channels[requests++ % channels.length], message: "Hello" };
        const headers = { "idempotency-key": `key-${requests}` };
        const sent = await request(run, "send-message", { apiKey, body, headers });
        if (sent.status === 201) sentTo.add(leadId);
        note(`send-message to ${erased.has(leadId) ? "an erased" : "a"} lead: ${sent.status}`);
        note(`list-leads: ${(await request(run, "list-leads", { apiKey, query: "source=fair" })).status}`);
        const query = `leadId=${leadId}`;
        note(`list-conversations: ${(await request(run, "list-conversations", { apiKey, query })).status}`);
        note(`create-lead: ${(await create(apiKey)) && 201}`);
        await setTimeout(pause);
      }
    };
    const clients = [client(acme, ids), client(acme, ids), client(other, otherIds.slice(10))];
    onTestFinished(async () => {
      stopped = true;
      await Promise.allSettled(clients);
    });
    const hasStarted = () => requests > 60 && ids.every((id) => sentTo.has(id));
    await expect.poll(hasStarted, { timeout: 90_000 }).toBe(true);
    // An erasure mostly waits.
    pause = 2500;
    const [one = "", ...two] = erased;
    const report = await command("leads", "erase", "--account", "acme", "--yes", "--lead", one);
    expect(report.messages).toBeGreaterThan(0);
    expect(report.idempotencyRecords).toBe(report.messages);
    await Promise.all(two.map((id) => command("leads", "erase", "--account", "acme", "--yes", "--lead", id)));
    await expect.poll(() => statuses.has("send-message to an erased lead: 404")).toBe(true);
    stopped = true;
    await Promise.all(clients);

    expect([...statuses.keys()].sort()).toEqual([
      ...["create-lead: 201", "list-conversations: 200", "list-leads: 200"],
      ...["send-message to a lead: 201", "send-message to an erased lead: 201"],
      "send-message to an erased lead: 404",
    ]);
    const items = await tableItems();
    for (const id of erased)
      expect([...items].filter((entry) => JSON.stringify(entry).includes(id)).map(([name]) => name)).toEqual([
        `ERASED#acme ${id}`,
      ]);
    expect(await command("counts", "verify", "--account", "acme")).toEqual([]);
    const { total } = (await request(run, "list-leads", { apiKey: acme, query: "source=fair" })).body
      .pagination;
    expect(total).toBe([...items.keys()].filter((name) => name.startsWith("LEAD#acme ")).length);

    const leadsOfOther = [...items.keys()].filter((name) => name.startsWith("LEAD#acme-1 ")).length;
    expect(
      await command("accounts", "erase", "--account", "acme-1", "--yes", "--cache-seconds", "1"),
    ).toEqual({
      ...{ account: "acme-1", erased: true, leads: leadsOfOther, unreadable: [] },
    });
    const left = [...(await tableItems())].filter(([name]) => name.includes("acme-1"));
    expect(left.filter(([, { expiresAt }]) => expiresAt === undefined)).toEqual([]);
    expect(await command("counts", "verify", "--account", "acme")).toEqual([]);

    const told = () => connector.received.filter(({ detail }) => detail.type === "lead.erased");
    await expect.poll(() => told().length).toBe(erased.size + leadsOfOther);
    await setTimeout(1000);
    const details = told().map(({ detail }) => detail as { account: string; leadId: string });
    expect(new Set(details.map(({ leadId }) => leadId)).size).toBe(details.length);
    expect(
      details
        .filter(({ account }) => account === "acme")
        .map(({ leadId }) => leadId)
        .sort(),
    ).toEqual([...erased].sort());
    for (const event of told()) expect(compareEvent(event)).toEqual([]);
  }, 240_000);
});
