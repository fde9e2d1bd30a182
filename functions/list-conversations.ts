import validate from "validate:list-conversations";
import { listConversations } from "../shared/domain/conversations.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { pageRequest } from "../shared/pages/page.ts";
import { listConversationsRoute } from "../shared/routes.ts";

export const handler = routeHandler(listConversationsRoute, validate, ({ account, query }) =>
  listConversations(account, query, pageRequest(query)),
);
