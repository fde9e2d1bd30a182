import { createLead as createAsRoute, createOrUpdateLead } from "../../../shared/domain/create-lead.ts";
import { leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { seeded, skewed } from "../../support/random.ts";
import type { Account } from "./account.ts";
import { details, sourceShares } from "./lead-rows.ts";

const random = seeded(7);
const anySource = skewed(random, sourceShares);

/** Creates a lead as the route does. */
export async function createLead({ name, rows }: Account, source: string = anySource()): Promise<void> {
  const mark = String(Math.floor(random() * 1e10)).padStart(10, "0");
  const { record: lead } = await createAsRoute(name, { ...details(mark), source });
  rows.push({ id: lead.id, status: lead.status, source });
}

/** Gives a lead of any age another status, as the route does. */
export async function changeStatus({ name, rows }: Account): Promise<void> {
  const index = Math.floor(random() * rows.length);
  const before = rows[index];
  const status = leadStatuses.find((status) => status !== before?.status);
  if (!before || !status) throw new Error(`${name} has no lead to change.`);
  await createOrUpdateLead(name, { id: before.id, status });
  rows[index] = { ...before, status };
}
