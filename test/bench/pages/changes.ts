import { sendMessage } from "../../../shared/domain/conversations/messages.ts";
import { updateMessage } from "../../../shared/domain/conversations/update-message.ts";
import { createLead as createAsRoute, createOrUpdateLead } from "../../../shared/domain/create-lead.ts";
import { type IdempotentRequest, idempotentRequest } from "../../../shared/domain/idempotent-replay.ts";
import type { RouteName } from "../../../shared/routes.ts";
import { leadStatuses, type NewLead } from "../../../shared/schemas/lead-schemas.ts";
import { seeded, skewed } from "../../support/cases/random.ts";
import type { Account } from "./account.ts";
import { details, sourceShares } from "./lead-rows.ts";
import { metered } from "./metered-table.ts";

const random = seeded(7);
const anySource = skewed(random, sourceShares);

/** Creates a lead as the route does. */
export async function createLead(
  { name, rows }: Account,
  fields: Pick<NewLead, "source" | "externalId" | "tags"> = {},
  idempotency?: IdempotentRequest,
): Promise<void> {
  const mark = String(Math.floor(random() * 1e10)).padStart(10, "0");
  const source = fields.source ?? anySource();
  const { record: lead } = await createAsRoute(name, { ...details(mark), ...fields, source }, idempotency);
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

export const joining = "A message that joins a conversation";

/** The writes of the routes, each with the events that it publishes. */
export async function loneChanges(account: Account) {
  const { name, rows } = account;
  const leads = rows.values();
  const newest = rows.at(-1)?.id ?? "";
  const message = "When can we talk?";
  const send = (leadId: string, channel: string, request?: IdempotentRequest) =>
    sendMessage(name, { leadId, channel, message }, request);
  await send(newest, "chat");
  await account.deliver();
  const externalId = "crm-1";
  await createLead(account, { externalId });
  let count = 0;
  const next = () => `next-${count++}`;
  const keyed = (route: RouteName) => idempotentRequest(name, route, next(), {});
  const reportMessage = async () => {
    const { result } = await metered(() => send(newest, "chat"));
    await updateMessage(name, { ...result.record, delivery: "sent" });
  };
  return [
    ["A lead with an email address and a source", () => createLead(account), 1],
    ["The same, with `Idempotency-Key`", () => createLead(account, {}, keyed("create-lead")), 1],
    ["The same, with `externalId`", () => createLead(account, { externalId: next() }), 1],
    [
      "A change of a lead's name, by `externalId`",
      () => createOrUpdateLead(name, { externalId, name: next() }),
      1,
    ],
    [joining, () => send(newest, "chat"), 1],
    ["The same, with `Idempotency-Key`", () => send(newest, "chat", keyed("send-message")), 1],
    ["A report of how far a message has got", reportMessage, 1],
    ["A message that starts a conversation", () => send(leads.next().value?.id ?? "", "email"), 2],
  ] as const;
}
