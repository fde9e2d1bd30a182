import validate from "validate:send-message";
import { sendMessage } from "../shared/domain/messages.ts";
import { routeHandler } from "../shared/http/route-handler.ts";

export const handler = routeHandler("send-message", validate, ({ account, body, deadline, idempotency }) =>
  sendMessage(account, body, deadline, idempotency),
);
