import { join } from "node:path";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { leadItem } from "../../../shared/domain/leads.ts";
import { canceled } from "../../support/cancellation.ts";
import { routeEvent } from "../../support/events.ts";
import { MemoryTable } from "../../support/memory-table.ts";
import { seeded } from "../../support/random.ts";
import { Arrivals } from "./arrivals.ts";
import { bundle } from "./bundle.ts";
import { FunctionPool } from "./function-pool.ts";
import type { Load } from "./product.ts";
import { rateLimitOf } from "./rate-limits.ts";
import { simulationStart } from "./service.ts";
import { quantile } from "./summary.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { virtualGlobals } from "./virtual-globals.ts";

export const loadSendMessage = (source: string): Promise<Load> =>
  bundle(source, { entryPoints: [join(source, "functions", "send-message.ts")] });

/** How long a transaction takes, and any other call, in milliseconds: assumptions. */
const [transactionTime, callTime] = [12, 4];

/** The neighbour sends messages to a conversation of its own, first alone, then beside the other account. */
const [hot, neighbour, neighbourRate] = ["hot", "next", 5] as const;

/** Simulates an account that sends messages to one conversation at random times, beside a neighbour. */
export async function runHotConversation(load: Load, perSecond: number, seconds: number, seed: number) {
  const clock = new VirtualClock(simulationStart);
  const table = new ConflictingTable(clock);
  const pool = new FunctionPool({
    ...{ clock, load, timeout: 10_000 },
    globals: virtualGlobals(clock, seeded(seed), rateLimitOf(6000)),
    createHost: () => ({ attempt: (command) => table.attempt(command) }),
  });
  const arrivals = new Arrivals(clock, seeded(seed + 1));
  const send = async (milliseconds: number, ...loads: readonly [Messages, number][]) => {
    for (const [messages, rate] of loads) arrivals.start(rate, messages.send);
    await clock.runUntil(clock.now + milliseconds);
    arrivals.stop();
  };
  const messages = (account: string) => new Messages(account, pool, clock);
  const [alone, loud, beside] = [messages(neighbour), messages(hot), messages(neighbour)];
  for (const account of [hot, neighbour]) table.addLead(account);
  await send(40_000, [alone, neighbourRate]);
  // A window of the rate limit begins.
  await clock.runUntil(simulationStart + 60_000);
  await send(seconds * 1000, [loud, perSecond], [beside, neighbourRate]);
  await clock.runUntil(clock.now + 10_000);
  return { hot: loud, alone, beside, stored: table.messagesOf(hot) };
}

/** A table in memory in which a transaction cancels those that begin before it ends and share an item with it. */
class ConflictingTable {
  readonly #memory = new MemoryTable();
  readonly #clock: VirtualClock;
  /** The items of the transactions that are in progress. */
  readonly #held = new Set<string>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  addLead(account: string): void {
    const lead = { id: "lead_1", name: "Ada", score: 0, status: "new" as const, tags: [] };
    const Item = leadItem(account, { ...lead, createdAt: new Date(simulationStart).toISOString() });
    this.#memory.execute(new PutCommand({ TableName: "overload", Item }));
  }

  async attempt(command: object): Promise<Record<string, unknown>> {
    const { TransactItems } = Reflect.get(command, "input") as { readonly TransactItems?: readonly object[] };
    const items = (TransactItems ?? []).map(itemOf);
    const reasons = items.map((item) => (this.#held.has(item) ? "TransactionConflict" : "None"));
    const conflicts = reasons.includes("TransactionConflict");
    if (!conflicts) for (const item of items) this.#held.add(item);
    await this.#clock.wait(TransactItems ? transactionTime : callTime);
    if (conflicts) throw canceled(...reasons);
    for (const item of items) this.#held.delete(item);
    return this.#memory.execute(command).output;
  }

  /** The messages of an account, and what its conversations say of them. */
  messagesOf(account: string) {
    const items = [...this.#memory.items()].filter(({ pk }) => String(pk).split("#")[1] === account);
    return {
      messages: items.filter(({ message }) => message !== undefined),
      conversations: items.filter(({ messageCount }) => messageCount !== undefined),
    };
  }
}

/** The item that a part of a transaction writes. */
function itemOf(part: object): string {
  const [write] = Object.values(part) as { readonly Key?: object; readonly Item?: object }[];
  const { pk, sk } = (write?.Key ?? write?.Item) as { readonly pk: string; readonly sk: string };
  return `${pk} ${sk}`;
}

/** Messages to one conversation of an account, each with a text of its own. */
class Messages {
  /** The texts of those that were sent. */
  readonly sent: string[] = [];
  /** The number of responses by their problem, or by status. */
  readonly statuses: Record<string, number> = {};
  /** The `Retry-After` of refusals, in seconds. */
  readonly waits: number[] = [];
  /** How many executions were busy with them at once, at most. */
  mostBusy = 0;
  readonly #account: string;
  readonly #pool: FunctionPool;
  readonly #clock: VirtualClock;
  readonly #times: number[] = [];
  #requests = 0;
  #busy = 0;

  constructor(account: string, pool: FunctionPool, clock: VirtualClock) {
    this.#account = account;
    this.#pool = pool;
    this.#clock = clock;
  }

  /** The 99th percentile of the times of responses, in milliseconds. */
  get p99(): number {
    return quantile(this.#times, 0.99) ?? 0;
  }

  send = async (): Promise<void> => {
    const [start, message] = [this.#clock.now, `message ${this.#requests++}`];
    const body = { leadId: "lead_1", channel: "whatsapp", message };
    this.mostBusy = Math.max(this.mostBusy, ++this.#busy);
    const { result } = await this.#pool.invoke(routeEvent("send-message", { account: this.#account, body }));
    this.#busy--;
    this.#times.push(this.#clock.now - start);
    const response = result as { statusCode: number; headers: Record<string, string>; body: string };
    const { code = response.statusCode }: { readonly code?: string | number } = JSON.parse(response.body);
    this.statuses[code] = (this.statuses[code] ?? 0) + 1;
    if (code === 201) this.sent.push(message);
    else this.waits.push(Number(response.headers["retry-after"]));
  };
}
