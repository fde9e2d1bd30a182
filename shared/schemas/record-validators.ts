import { conversation, message } from "./conversation-schemas.ts";
import { lead } from "./lead-schemas.ts";
import { recordValidator } from "./validator.ts";

export const validateLead = recordValidator(lead);
export const validateConversation = recordValidator(conversation);
export const validateMessage = recordValidator(message);
