import { openConversations } from "../shared/domain/conversations/conversations.ts";
import { conversationsQueryRules } from "../shared/http/query-parser.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { validateListConversations } from "../shared/http/route-validators.ts";
import { listConversationsRoute } from "../shared/routes.ts";

export const handler = routeHandler(listConversationsRoute, validateListConversations, openConversations, [
  conversationsQueryRules(),
]);
