import validate from "validate:list-conversations";
import { listConversations } from "../shared/domain/conversations.ts";
import { noBody } from "../shared/http/no-body.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { pageRequest } from "../shared/pages/page.ts";
import { listConversationsRoute } from "../shared/routes.ts";

export const handler = routeHandler(listConversationsRoute, noBody(), validate, ({ account, query }) =>
  listConversations(account, query, pageRequest(query)),
);
