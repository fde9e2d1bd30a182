import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { seeded } from "../../support/cases/random.ts";
import { lambdaContext, routeEvent } from "../../support/requests/events.ts";
import { storedLead } from "../../support/tables/stored.ts";
import { VirtualTable } from "../../support/tables/virtual-table.ts";

const start = Date.UTC(2026, 0, 1);

/** The assumed times of a transaction and of any other call, in milliseconds. */
const [transactionTime, callTime] = [12, 4];

/** More environments than are busy at once. */
const environmentCount = 80;

/** Loads `send-message` as an execution environment of its own. */
async function loadEnvironment() {
  vi.resetModules();
  const { table } = await import("../../../shared/dynamodb/table-client.ts");
  const { handler } = await import("../../../functions/send-message.ts");
  return { table, handler };
}

type Environment = Awaited<ReturnType<typeof loadEnvironment>>;

/** What became of the messages of an account to one conversation, and the most executions that were busy with them. */
const outcomesOf = (account: string) => ({
  ...{ account, requests: 0, busy: 0, mostBusy: 0, sent: [] as string[] },
  refusals: [] as { readonly code: string; readonly retryAfter: number }[],
});
type Outcomes = ReturnType<typeof outcomesOf>;

async function send(messages: Outcomes, free: Environment[]): Promise<void> {
  const { account, sent, refusals } = messages;
  const environment = free.pop();
  if (!environment) throw new Error("No environment is free.");
  messages.mostBusy = Math.max(messages.mostBusy, ++messages.busy);
  const body = { leadId: "lead_1", channel: "whatsapp", message: `message ${messages.requests++}` };
  const event = routeEvent("send-message", { account, body });
  const response = (await environment.handler(
    event as never,
    lambdaContext(),
  )) as APIGatewayProxyStructuredResultV2;
  messages.busy--;
  free.push(environment);
  if (response.statusCode === 201) return void sent.push(body.message);
  const { code } = JSON.parse(String(response.body));
  refusals.push({ code, retryAfter: Number(response.headers?.["retry-after"]) });
}

/** Sends messages of two accounts at random times, in virtual time. */
async function run(perSecond: number, seconds: number) {
  const free = await Promise.all(Array.from({ length: environmentCount }, loadEnvironment));
  const clients = free.map(({ table }) => table);
  const table = new VirtualTable(
    start,
    (command) => ("TransactItems" in Reflect.get(command, "input") ? transactionTime : callTime),
    clients,
  );
  const [hot, beside] = [outcomesOf("hot"), outcomesOf("beside")];
  const random = seeded(1);
  vi.spyOn(Math, "random").mockImplementation(random);
  for (const [messages, rate] of [
    [hot, perSecond],
    [beside, 5],
  ] as const) {
    table.memory.put(storedLead("lead_1", messages.account));
    for (let at = 0; at < seconds * 1000; at += (-Math.log(1 - random()) / rate) * 1000)
      setTimeout(() => send(messages, free), at);
  }
  await vi.advanceTimersByTimeAsync((seconds + 10) * 1000);
  return {
    hot,
    beside,
    items: [...table.memory.items()].filter(({ pk }) => String(pk).split("#")[1] === "hot"),
  };
}

test.each([
  { perSecond: 100, seconds: 10, mostBusy: 60 },
  { perSecond: 20, seconds: 20, mostBusy: 10 },
])("$perSecond messages a second to one conversation keep at most $mostBusy executions busy", async ({
  perSecond,
  seconds,
  mostBusy,
}) => {
  const { hot, beside, items } = await run(perSecond, seconds);
  expect(hot.mostBusy).toBeLessThanOrEqual(mostBusy);
  // A conversation still takes this many when there are more than it can take.
  expect(hot.sent.length).toBeGreaterThan(Math.min(0.9 * perSecond, 40) * seconds);
  // Each message that was sent is stored and counted once, and no other is.
  const stored = items.flatMap(({ message }) => (message === undefined ? [] : [message]));
  expect(stored.sort()).toEqual([...hot.sent].sort());
  const conversations = items.filter(({ messageCount }) => messageCount !== undefined);
  expect(conversations).toEqual([expect.objectContaining({ messageCount: hot.sent.length })]);
  // At twenty a second, every message is sent.
  expect(hot.refusals.length > 0).toBe(perSecond > 20);
  expect(hot.refusals.filter(({ code }) => code !== "too_many_at_once")).toEqual([]);
  // Requests that are refused at the same time get different times to retry, which grow.
  if (perSecond > 20)
    expect(new Set(hot.refusals.map(({ retryAfter }) => retryAfter)).size).toBeGreaterThanOrEqual(3);
  expect(beside.refusals).toEqual([]);
});
