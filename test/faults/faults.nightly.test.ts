import { randomUUID } from "node:crypto";
import { DeleteTableCommand } from "@aws-sdk/client-dynamodb";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../lib/local/engine/dynamodb-client.ts";
import { ensureTable } from "../../lib/local/engine/table-setup.ts";
import { engineEndpoint } from "../support/engine-endpoint.ts";
import { seeded } from "../support/random.ts";
import { type Exchange, pass } from "./exchange.ts";
import { type FaultKind, faultKinds } from "./fault-kinds.ts";
import { startFaultyApi } from "./faulty-api.ts";

/** The requests of all phases, the seed, and the name of the one phase to run. */
const { FAULTS_REQUESTS = "12000", FAULTS_SEED, FAULTS_ONLY } = process.env;
const seed = Number(FAULTS_SEED || Date.now() % 1_000_000);

/** The share of the calls to which a fault applies that fail with it, from 0 to 1, by kind. */
type Rates = Partial<Readonly<Record<FaultKind, number>>>;

/** The rate of each fault when it is the only one. */
const alone: Readonly<Record<FaultKind, number>> = {
  delay: 0.3,
  late: 0.04,
  "drop before": 0.15,
  "drop after": 0.15,
  throttle: 0.15,
  "server error": 0.15,
  truncate: 0.15,
  conflict: 0.3,
  "stale index": 0.7,
};

const kinds = Object.keys(alone) as FaultKind[];

/** Each kind alone, then all together, each at a fifth of its rate. */
const phases = [
  ...kinds.map((kind) => ({ name: kind, rates: { [kind]: alone[kind] } as Rates })),
  { name: "all", rates: Object.fromEntries(kinds.map((kind) => [kind, alone[kind] / 5])) as Rates },
];

/** The requests of a phase. */
const requests = Math.ceil(Number(FAULTS_REQUESTS) / phases.length);
const clients = 48;

/** Injects random faults, the same for the same seed and order of calls. @returns how many of each kind it has injected */
function injectFaults(rates: Rates, random: () => number) {
  const injected = new Map<FaultKind, number>();
  const handle = (exchange: Exchange): Promise<unknown> => {
    let number = random();
    for (const kind of kinds.filter((it) => faultKinds[it].applies(exchange))) {
      number -= rates[kind] ?? 0;
      if (number >= 0) continue;
      injected.set(kind, (injected.get(kind) ?? 0) + 1);
      return faultKinds[kind].inject(exchange, random);
    }
    return pass(exchange);
  };
  return { injected, handle };
}

/** The API on a new table with newly loaded functions, because the SDK's retry quota does not refill by itself. */
async function startAlone() {
  const { table } = inject("engine");
  const TableName = `faults-${randomUUID()}`;
  const client = engineClient(engineEndpoint);
  await ensureTable(client, { input: { ...table, TableName } }, engineEndpoint);
  vi.stubEnv("TABLE_NAME", TableName);
  vi.resetModules();
  const api = await startFaultyApi();
  const { startMaintainer } = await import("./maintainer.ts");
  const maintainer = await startMaintainer(api);
  onTestFinished(async () => {
    await maintainer.stop();
    api.table.close();
    await client.send(new DeleteTableCommand({ TableName }));
    client.destroy();
  });
  return { ...api, maintainer };
}

test.each(
  phases.filter(({ name }) => !FAULTS_ONLY || name === FAULTS_ONLY),
)(`acknowledged writes exist exactly once, and lists are exact, with faults: $name (seed ${seed})`, {
  timeout: 600_000,
}, async ({ rates }) => {
  const { table, maintainer, stored } = await startAlone();
  // Imported here because the client reads its endpoint from the environment.
  const { Client } = await import("./traffic.ts");
  const { checkConversations } = await import("./conversation-check.ts");
  const { checkCounts } = await import("./count-check.ts");
  const { checkWrites, Ledger } = await import("./ledger.ts");
  const ledgers = ["acme", "acme2", "other"].map((account) => new Ledger(account));
  const sum = (count: (ledger: InstanceType<typeof Ledger>) => number) =>
    ledgers.reduce((total, ledger) => total + count(ledger), 0);
  const acknowledged = () => sum(({ writes }) => writes.filter(({ record }) => record).length);
  // On a slow machine, more requests fail.
  const hasTested = () => acknowledged() > requests / 4 && sum(({ lists }) => lists) > requests / 10;
  const sent = () => sum((ledger) => ledger.requests);
  const isEnough = () => sent() >= 4 * requests || (sent() >= requests && hasTested());
  const { injected, handle } = injectFaults(rates, seeded(seed));
  table.handle = handle;
  const running = Array.from({ length: clients }, (_, number) => {
    const ledger = ledgers[number % ledgers.length] ?? new Ledger("");
    return new Client(ledger, number, seeded(seed + number)).run(isEnough);
  });
  await Promise.all(running);
  await maintainer.drained();
  table.handle = pass;
  const figures = { requests: sent(), acknowledged: acknowledged(), lists: sum(({ lists }) => lists) };
  console.log({ ...figures, ...Object.fromEntries(injected), retried: maintainer.failures() });
  expect(maintainer.violations).toEqual([]);
  for (const ledger of ledgers) {
    const rows = await stored(ledger.account);
    expect(checkWrites(ledger, rows)).toEqual({ lost: [], doubled: [], undone: [] });
    expect(ledger.violations).toEqual([]);
    expect(checkConversations(rows)).toEqual([]);
    expect(await checkCounts(ledger.account, rows)).toEqual([]);
  }
  // Otherwise nothing was tested.
  expect([...injected.keys()].sort()).toEqual(Object.keys(rates).sort());
  expect(hasTested()).toBe(true);
});
