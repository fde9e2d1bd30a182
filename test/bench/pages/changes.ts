import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { createLead as createAsRoute } from "../../../shared/domain/create-lead.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { leadStatuses } from "../../../shared/schemas/lead-schemas.ts";
import { seeded, skewed } from "../../support/random.ts";
import type { Account } from "./account.ts";
import { details, rowItem, sourceShares } from "./lead-rows.ts";

const random = seeded(7);
const anySource = skewed(random, sourceShares);

/** Creates a lead as the route does. */
export async function createLead({ name, rows }: Account, source: string = anySource()): Promise<void> {
  const mark = String(Math.floor(random() * 1e10)).padStart(10, "0");
  const { record: lead } = await createAsRoute(name, { ...details(mark), source });
  rows.push({ id: lead.id, status: lead.status, source });
}

/** Gives a lead of any age another status, as an operator does. */
export async function changeStatus({ name, rows }: Account): Promise<void> {
  const index = Math.floor(random() * rows.length);
  const before = rows[index];
  const status = leadStatuses.find((status) => status !== before?.status);
  if (!before || !status) throw new Error(`${name} has no lead to change.`);
  const after = { ...before, status };
  const { byStatus, byStatusAndLabel } = rowItem(name, after);
  await table.send(
    new UpdateCommand({
      TableName: tableName,
      Key: leadKey(name, before.id),
      UpdateExpression: "SET #status = :status, byStatus = :byStatus, byStatusAndLabel = :both",
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: { ":status": status, ":byStatus": byStatus, ":both": byStatusAndLabel },
    }),
  );
  rows[index] = after;
}
