import { sendMessage } from "../shared/domain/conversations/messages.ts";
import { updateConversation } from "../shared/domain/conversations/update-conversation.ts";
import { updateMessage } from "../shared/domain/conversations/update-message.ts";
import { bodyParser } from "../shared/http/body-parser.ts";
import { idempotencyKeyParser } from "../shared/http/idempotency-key-parser.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import {
  validateSendMessage,
  validateUpdateConversation,
  validateUpdateMessage,
} from "../shared/http/route-validators.ts";
import { sendMessageRoute } from "../shared/routes.ts";

export const handler = routeHandler(
  sendMessageRoute,
  validateSendMessage,
  sendMessage,
  [idempotencyKeyParser(), bodyParser()],
  {
    message: { validate: validateUpdateMessage, handle: updateMessage },
    conversation: { validate: validateUpdateConversation, handle: updateConversation },
  },
);
