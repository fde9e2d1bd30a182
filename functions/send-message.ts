import validate from "validate:send-message";
import { sendMessage } from "../shared/domain/send-message.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { sendMessageRoute } from "../shared/routes.ts";

export const handler = routeHandler(sendMessageRoute, validate, ({ account, body, deadline, idempotency }) =>
  sendMessage(account, body, deadline, idempotency),
);
