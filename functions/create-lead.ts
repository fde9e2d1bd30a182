import validate from "validate:create-lead";
import { createLead } from "../shared/domain/leads.ts";
import { routeHandler } from "../shared/http/route-handler.ts";

export const handler = routeHandler("create-lead", validate, ({ account, body, deadline, idempotency }) =>
  createLead(account, body, deadline, idempotency),
);
