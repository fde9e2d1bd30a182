import type { Context } from "aws-lambda";
import { createLead, createOrUpdateLead } from "../shared/domain/create-lead.ts";
import { bodyParser } from "../shared/http/body-parser.ts";
import { idempotencyKeyParser } from "../shared/http/idempotency-key-parser.ts";
import { hasParameter } from "../shared/http/query-parser.ts";
import type { RouteEvent } from "../shared/http/route-event.ts";
import { routeHandler } from "../shared/http/route-handler.ts";
import { validateCreateLead, validateUpdateLead } from "../shared/http/route-validators.ts";
import { createLeadRoute, updateLeadRoute } from "../shared/routes.ts";

const parsers = [idempotencyKeyParser(), bodyParser()];

const create = routeHandler(
  createLeadRoute,
  validateCreateLead,
  ({ account, body, idempotency }) => createLead(account, body, idempotency),
  parsers,
);

const createOrUpdate = routeHandler(
  updateLeadRoute,
  validateUpdateLead,
  ({ account, body, idempotency }) => createOrUpdateLead(account, body, idempotency),
  parsers,
);

export const handler = (event: RouteEvent, context: Context) =>
  (hasParameter(event, "ifExists") ? createOrUpdate : create)(event, context);
