import {
  createLeadRoute,
  listConversationsRoute,
  listLeadsRoute,
  type Route,
  sendMessageRoute,
  updateLeadRoute,
} from "../routes.ts";
import { requestValidator } from "../schemas/validator.ts";

/** A validator of the requests to a route, as its handler sees them. */
const routeValidator = ({ query, body }: Route) =>
  requestValidator({ properties: { query, ...(body && { body }) } });

export const validateListLeads = routeValidator(listLeadsRoute);
export const validateCreateLead = routeValidator(createLeadRoute);
export const validateUpdateLead = routeValidator(updateLeadRoute);
export const validateListConversations = routeValidator(listConversationsRoute);
export const validateSendMessage = routeValidator(sendMessageRoute);
