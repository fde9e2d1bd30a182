import {
  createLeadRoute,
  listConversationsRoute,
  listLeadsRoute,
  type Route,
  sendMessageRoute,
} from "../routes.ts";
import { conversationUpdate, messageUpdate } from "../schemas/conversation-schemas.ts";
import { requestValidator } from "../schemas/validator.ts";

/** A validator of the requests to a route, as its handler sees them; by default, of the requests with its usual body. */
const routeValidator = ({ query, ...route }: Route, body = route.body) =>
  requestValidator({ properties: { query, ...(body && { body }) } });

export const validateListLeads = routeValidator(listLeadsRoute);
export const validateCreateLead = routeValidator(createLeadRoute);
export const validateUpdateLead = routeValidator(createLeadRoute, createLeadRoute.otherBodies.schemas.update);
export const validateListConversations = routeValidator(listConversationsRoute);
export const validateSendMessage = routeValidator(sendMessageRoute);
export const validateUpdateMessage = routeValidator(sendMessageRoute, messageUpdate);
export const validateUpdateConversation = routeValidator(sendMessageRoute, conversationUpdate);
