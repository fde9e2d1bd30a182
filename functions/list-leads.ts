import validate from "validate:list-leads";
import { listLeads } from "../shared/domain/leads.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { pageRequest } from "../shared/pages/page.ts";
import { listLeadsRoute } from "../shared/routes.ts";

export const handler = routeHandler(listLeadsRoute, validate, ({ account, query }) =>
  listLeads(account, query, pageRequest(query)),
);
