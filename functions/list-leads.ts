import validate from "validate:list-leads";
import { routeHandler } from "../shared/http/route-handler.ts";
import { listLeads } from "../shared/leads.ts";
import { pageRequest } from "../shared/pages/page.ts";

export const handler = routeHandler("list-leads", validate, ({ account, query }) =>
  listLeads(account, query, pageRequest(query)),
);
