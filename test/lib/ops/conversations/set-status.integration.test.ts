import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { call } from "../../../support/call.ts";
import { createDataDirectory, ops as runOps } from "../../../support/ops.ts";
import { aLead, aMessage } from "../../../support/requests.ts";

const dataDirectory = await createDataDirectory();
const ops = (...args: string[]) => runOps(args, { dataDirectory });

async function listedLeads(account: string, query: string) {
  const { body } = await call("list-leads", { account, query });
  return body.data;
}

const onLead = (account: string, lead: string) => ["--account", account, "--lead", lead, "--local"];
const onConversation = (account: string, conversation: string, status: string) => [
  ...["conversations", "set-status", "--account", account, "--local"],
  ...["--conversation", conversation, "--status", status],
];

describe("ops leads", () => {
  test("set-status moves a lead in every list", async () => {
    const account = randomUUID();
    const lead = await aLead(account, { source: "website" });
    const { stdout } = await ops(
      "leads",
      "set-status",
      ...onLead(account, lead.id),
      "--status",
      "booked",
      "--json",
    );
    const changed = { ...lead, status: "booked" };
    expect(JSON.parse(stdout)).toEqual(changed);
    for (const query of ["", "status=booked", "source=website", "status=booked&source=website"]) {
      expect(await listedLeads(account, query)).toEqual([changed]);
    }
    for (const query of ["status=new", "status=new&source=website"]) {
      expect(await listedLeads(account, query)).toEqual([]);
    }
  });

  test("set-status moves a lead without a source", async () => {
    const account = randomUUID();
    const lead = await aLead(account);
    const { stdout } = await ops("leads", "set-status", ...onLead(account, lead.id), "--status", "qualified");
    expect(stdout).toBe(`The lead ${lead.id} has the status qualified and the score 0.\n`);
    expect(await listedLeads(account, "status=qualified")).toEqual([{ ...lead, status: "qualified" }]);
  });

  test("set-score changes nothing else", async () => {
    const account = randomUUID();
    const lead = await aLead(account, { source: "website" });
    await ops("leads", "set-score", ...onLead(account, lead.id), "--score", "100");
    expect(await listedLeads(account, "source=website")).toEqual([{ ...lead, score: 100 }]);
  });
});

describe("ops conversations", () => {
  test("set-status ends a conversation: the next message starts another, and the old one cannot become active", async () => {
    const account = randomUUID();
    const { id: leadId } = await aLead(account);
    const first = await aMessage(account, leadId);
    const ended = await ops(...onConversation(account, first.conversationId, "closed"));
    expect(ended.stdout).toBe(`The conversation ${first.conversationId} has the status closed.\n`);
    const second = await aMessage(account, leadId);
    expect(second.conversationId).not.toBe(first.conversationId);
    const refused = await ops(...onConversation(account, first.conversationId, "active"));
    expect(refused).toMatchObject({
      code: 1,
      stderr: `The lead has another active conversation on this channel, ${second.conversationId}: end that one first.\n`,
    });
  });
});
