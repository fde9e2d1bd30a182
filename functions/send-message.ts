import validate from "validate:send-message";
import { routeHandler } from "../shared/http/route-handler.ts";
import { sendMessage } from "../shared/messages.ts";

export const handler = routeHandler("send-message", validate, ({ account, body, deadline, idempotent }) =>
  sendMessage(account, body, deadline, idempotent),
);
