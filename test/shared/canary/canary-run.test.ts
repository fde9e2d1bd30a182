import { expect, test } from "vitest";
import type { CanaryClient } from "../../../shared/canary/canary-client.ts";
import { runCanary } from "../../../shared/canary/canary-run.ts";

const leads = "/api/v1/leads";
const conversations = "/api/v1/conversations";

type Response = Awaited<ReturnType<CanaryClient["get"]>>;

const healthy: Readonly<Record<string, Response["body"]>> = {
  [`POST ${leads}`]: { id: "lead_1" },
  [`GET ${leads}?id=lead_1`]: { data: [{ id: "lead_1" }] },
  [`GET ${leads}?limit=1`]: { data: [{ id: "lead_1" }], pagination: { total: 1 } },
  [`POST ${conversations}`]: { id: "msg_1", conversationId: "conv_1" },
  [`GET ${conversations}?id=conv_1`]: { data: [{ id: "conv_1" }] },
};

/** Runs the canary on an API with these responses, of which the second POST to a path is a replay. */
async function run(responses: Readonly<Record<string, Response["body"]>> = {}, replays = true) {
  const sent: unknown[][] = [];
  const respond = (...request: [string, ...unknown[]]): Promise<Response> => {
    const replayed = replays && sent.some(([first]) => first === request[0]);
    sent.push(request);
    const all = { ...healthy, ...responses };
    const body = (replayed ? all[`${request[0]} again`] : undefined) ?? all[request[0]] ?? {};
    return Promise.resolve({ replayed, body });
  };
  const client: CanaryClient = {
    get: (path) => respond(`GET ${path}`),
    post: (path, body, key) => respond(`POST ${path}`, body, key),
  };
  await runCanary(client, "2026-11-21");
  return sent;
}

test("it creates, replays, finds, lists and sends, with keys of the day", async () => {
  const key = "canary-2026-11-21";
  const lead = { name: "Canary", source: "canary" };
  expect(await run()).toEqual([
    [`POST ${leads}`, lead, key],
    [`POST ${leads}`, lead, key],
    [`GET ${leads}?id=lead_1`],
    [`GET ${leads}?limit=1`],
    [`POST ${conversations}`, { leadId: "lead_1", channel: "canary", message: "Canary" }, key],
    [`GET ${conversations}?id=conv_1`],
  ]);
});

test.each<[string, Response["body"], string]>([
  [`GET ${leads}?id=lead_1`, { data: [] }, "The lead was not found"],
  [`GET ${leads}?id=lead_1`, { data: [{ id: "lead_2" }] }, "The lead was not found"],
  [`GET ${leads}?limit=1`, { data: [], pagination: { total: 1 } }, "The list of leads was empty"],
  [`GET ${leads}?limit=1`, { data: [{ id: "lead_1" }] }, "The list of leads was empty"],
  [`GET ${conversations}?id=conv_1`, { data: [] }, "The conversation was not found"],
  [`POST ${leads} again`, { id: "lead_2" }, "The repeated request returned another lead"],
])("it fails if %s returns %j", async (request, body, code) => {
  await expect(run({ [request]: body })).rejects.toMatchObject({ code });
});

test("it fails if the repeated request is not a replay", async () => {
  await expect(run({}, false)).rejects.toMatchObject({ code: "The repeated request was not a replay" });
});
