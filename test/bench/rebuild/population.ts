import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { ulid } from "ulid";
import { leadItem } from "../../../shared/domain/leads.ts";
import { createdAt } from "../../../shared/ids.ts";
import { PartitionLimits } from "../../support/dynamodb-limits/partition-limits.ts";
import { MemoryTable } from "../../support/memory-table.ts";
import { seeded } from "../../support/random.ts";
import type { LoadModules } from "../overload/bundle.ts";
import { LimitedMemoryTable } from "../overload/limited-memory-table.ts";
import { type Stored, simulationStart } from "../overload/service.ts";
import { sizedLeads } from "../overload/sized-lead.ts";
import { VirtualClock } from "../overload/virtual-clock.ts";
import type { Operations } from "./operations.ts";
import { runToEnd } from "./outcome.ts";
import { Program } from "./program.ts";

/** The account of all simulations. */
export const account = "acme";

export interface PopulationPlan {
  readonly leads: number;
  readonly leadBytes: number;
  readonly sources: readonly string[];
}

/** An account with leads and their tree, for several simulations. */
export interface Population extends PopulationPlan {
  readonly stored: Stored;
  readonly ids: readonly string[];
}

/** The time between two leads, in milliseconds. */
const interval = 2000;

/** How long before the simulations the newest lead is created and its tree is built, in milliseconds. */
const age = 86_400_000;

/** Above what any program uses. */
const noLimits = { read: 1e9, write: 1e9, burstSeconds: 0 };

/** Stores the leads of an account at no cost and builds their tree. */
export async function populate(load: LoadModules<Operations>, plan: PopulationPlan): Promise<Population> {
  const { leads, leadBytes, sources } = plan;
  const memory = new MemoryTable();
  const body = sizedLeads(leadBytes, account, sources);
  const random = seeded(leads);
  const ids: string[] = [];
  for (let n = 0; n < leads; n++) {
    const id = `lead_${ulid(simulationStart - age - (leads - n) * interval, random)}`;
    const lead = { score: 0, status: "new" as const, tags: [], ...body(n), id, createdAt: createdAt(id) };
    memory.execute(new PutCommand({ TableName: "overload", Item: leadItem(account, lead) }));
    ids.push(id);
  }
  const clock = new VirtualClock(simulationStart - age / 2);
  const table = new LimitedMemoryTable(memory, new PartitionLimits(noLimits, () => clock.now), clock);
  const service = { clock, table };
  const program = new Program({ load, service, account, units: noLimits.read, seed: leads });
  const outcome = await runToEnd(clock, program.rebuild(), age / 2000);
  if (!outcome || "error" in outcome) throw new Error("The tree was not built.", { cause: outcome?.error });
  return { ...plan, stored: memory.snapshot(), ids };
}
