import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import type { RouteName } from "../../shared/routes.ts";
import { conversation, lead, message } from "../../shared/schemas.ts";

const ajv = new Ajv2020({
  strictTypes: false,
  formats: { email: fullFormats.email, "date-time": true },
});

const count = { type: "integer", minimum: 0 };

const listOf = (record: object) => ({
  type: "object",
  properties: {
    data: { type: "array", items: record },
    pagination: {
      type: "object",
      properties: { page: count, limit: count, total: count },
      required: ["page", "limit", "total"],
      additionalProperties: false,
    },
  },
  required: ["data", "pagination"],
  additionalProperties: false,
});

const shapes = {
  "create-lead": ajv.compile(lead),
  "send-message": ajv.compile(message),
  "list-leads": ajv.compile(listOf(lead)),
  "list-conversations": ajv.compile(listOf(conversation)),
};

/** What is wrong with the body of a success; undefined when it is as documented. */
export function shapeFault(name: RouteName, body: unknown): string | undefined {
  const validate = shapes[name];
  return validate(body) ? undefined : ajv.errorsText(validate.errors);
}
