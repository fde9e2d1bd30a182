import { sendMessage } from "../shared/domain/messages.ts";
import { bodyParser } from "../shared/http/body-parser.ts";
import { idempotencyKeyParser } from "../shared/http/idempotency-key-parser.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { validateSendMessage } from "../shared/http/route-validators.ts";
import { sendMessageRoute } from "../shared/routes.ts";

export const handler = routeHandler(
  sendMessageRoute,
  validateSendMessage,
  ({ account, body, idempotency }) => sendMessage(account, body, idempotency),
  [idempotencyKeyParser(), bodyParser()],
);
