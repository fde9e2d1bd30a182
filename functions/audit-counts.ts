import type { Context } from "aws-lambda";
import * as logEvents from "../shared/logging/log-events.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";
import { auditLists } from "../shared/pages/audit/audit-lists.ts";

/** Time of an invocation that is reserved for the wait before wrong counts are compared again, in milliseconds. */
const secondLookTime = 90_000;

/** Verifies the counts of some lists, and repairs them. */
export const handler = maskedFailures(async (_event: unknown, context: Context): Promise<void> => {
  const deadline = Date.now() + context.getRemainingTimeInMillis() - secondLookTime;
  const audited = await auditLists(Date.now(), deadline);
  console.info({ event: logEvents.countsAudited, ...audited });
});
