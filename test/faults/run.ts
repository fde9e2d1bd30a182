import { call } from "../support/call.ts";
import { checkConversations } from "./conversation-check.ts";
import { checkCounts } from "./count-check.ts";
import { pass } from "./exchange.ts";
import type { FaultKind } from "./fault-kinds.ts";
import { FaultPlan, type Rates } from "./fault-plan.ts";
import { Ledger } from "./ledger.ts";
import { checkListings } from "./listing-check.ts";
import type { Maintainer } from "./maintainer.ts";
import type { FaultyTable } from "./proxy.ts";
import { checkStatuses } from "./status-check.ts";
import { emptyAccount, readTable, type Stored } from "./stored.ts";
import { drive } from "./traffic.ts";
import { checkWrites, type Writes } from "./write-check.ts";

/** Requests with the same rates of faults. */
export interface Phase {
  readonly name: string;
  readonly rates: Rates;
  readonly requests: number;
  readonly clients: number;
}

/** The outcome of a phase. */
export interface Result extends Writes {
  readonly phase: Phase;
  readonly requests: number;
  readonly injected: ReadonlyMap<FaultKind, number>;
  /** How many responses of lists were checked. */
  readonly listings: number;
  /** How many stream batches were retried. */
  readonly batchFailures: number;
  readonly seconds: number;
  /** What must never happen, in sentences. */
  readonly violations: readonly string[];
}

export interface Surroundings {
  readonly table: FaultyTable;
  readonly maintainer: Maintainer;
  readonly engine: string;
  readonly tableName: string;
  readonly seed: number;
}

const accountsPerPhase = 3;

/** Runs a phase in its own accounts, then checks what is stored, without faults. */
export async function runPhase(phase: Phase, { seed, ...surroundings }: Surroundings): Promise<Result> {
  const { table, maintainer, engine, tableName } = surroundings;
  const ledger = new Ledger();
  const prefix = phase.name.replaceAll(" ", "-");
  const accounts = Array.from({ length: accountsPerPhase }, (_, number) => `${prefix}-${number}`);
  const plan = new FaultPlan(phase.rates, seed);
  const start = Date.now();
  const failedBefore = maintainer.failures();
  table.handle = plan.handle;
  const acknowledged = () => ledger.writes.filter((write) => write.acknowledged).length;
  // On a slow machine, more requests fail.
  const hasTested = () => acknowledged() > phase.requests / 4 && ledger.listings.length > phase.requests / 10;
  const isEnough = () =>
    ledger.requests >= 4 * phase.requests || (ledger.requests >= phase.requests && hasTested());
  await drive({ call, ledger, accounts, isEnough, clients: phase.clients, seed });
  await maintainer.drained();
  table.handle = pass;
  const all = await readTable(engine, tableName);
  const stored = new Map(accounts.map((account) => [account, all.get(account) ?? emptyAccount()]));
  const violations = [
    ...ledger.violations,
    ...maintainer.violations.splice(0),
    ...(await check(ledger, stored)),
  ];
  return {
    ...{ phase, violations, injected: plan.injected },
    requests: ledger.requests,
    listings: ledger.listings.length,
    batchFailures: maintainer.failures() - failedBefore,
    seconds: Math.round((Date.now() - start) / 1000),
    ...checkWrites(ledger, stored),
  };
}

async function check(ledger: Ledger, stored: ReadonlyMap<string, Stored>): Promise<string[]> {
  const violations = [...checkStatuses(ledger, stored), ...checkListings(ledger, stored)];
  for (const [account, rows] of stored) {
    violations.push(...checkConversations(account, rows), ...(await checkCounts(call, account, rows)));
  }
  return violations;
}
