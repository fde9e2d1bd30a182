import validate from "validate:create-lead";
import { routeHandler } from "../shared/http/route-handler.ts";
import { createLead } from "../shared/leads.ts";

export const handler = routeHandler("create-lead", validate, ({ account, body, deadline, idempotent }) =>
  createLead(account, body, deadline, idempotent),
);
