import { createLead, createOrUpdateLead } from "../shared/domain/create-lead.ts";
import { bodyParser } from "../shared/http/body-parser.ts";
import { idempotencyKeyParser } from "../shared/http/idempotency-key-parser.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { validateCreateLead, validateUpdateLead } from "../shared/http/route-validators.ts";
import { createLeadRoute } from "../shared/routes.ts";

export const handler = routeHandler(
  createLeadRoute,
  validateCreateLead,
  createLead,
  [idempotencyKeyParser(), bodyParser()],
  { update: { validate: validateUpdateLead, handle: createOrUpdateLead } },
);
