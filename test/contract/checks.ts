import type { Check } from "./check.ts";
import { accessChecks } from "./checks/access.ts";
import { activityChecks } from "./checks/activity.ts";
import { conversationChecks } from "./checks/conversations.ts";
import { externalIdChecks } from "./checks/external-ids.ts";
import { faultChecks } from "./checks/faults.ts";
import { filterChecks } from "./checks/filters.ts";
import { idempotencyChecks } from "./checks/idempotency.ts";
import { leadChecks } from "./checks/leads.ts";
import { pageChecks } from "./checks/pages.ts";
import { responseChecks } from "./checks/responses.ts";

/** Every promise, in the order of the checks. The last ones look at what the others received. */
export const checks: readonly Check[] = [
  ...leadChecks,
  ...externalIdChecks,
  ...conversationChecks,
  ...pageChecks,
  ...filterChecks,
  ...activityChecks,
  ...faultChecks,
  ...idempotencyChecks,
  ...accessChecks,
  ...responseChecks,
];
