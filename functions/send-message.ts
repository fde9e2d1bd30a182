import validate from "validate:send-message";
import { sendMessage } from "../shared/domain/messages.ts";
import { bodyParser } from "../shared/http/body-parser.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { sendMessageRoute } from "../shared/routes.ts";

export const handler = routeHandler(
  sendMessageRoute,
  validate,
  ({ account, body, idempotency }) => sendMessage(account, body, idempotency),
  bodyParser(),
);
