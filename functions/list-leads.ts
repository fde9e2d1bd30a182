import { listLeads } from "../shared/domain/leads.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { validateListLeads } from "../shared/http/route-validators.ts";
import { listLeadsRoute } from "../shared/routes.ts";

export const handler = routeHandler(listLeadsRoute, validateListLeads, listLeads);
