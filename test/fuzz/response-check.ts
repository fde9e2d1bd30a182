import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { expect } from "vitest";
import { problems } from "../../shared/errors.ts";
import { type RouteName, routes } from "../../shared/routes.ts";
import { conversation, message } from "../../shared/schemas/conversation-schemas.ts";
import { lead } from "../../shared/schemas/lead-schemas.ts";
import type { RawResponse } from "../support/socket.ts";

const ajv = new Ajv2020({ strict: true, strictTypes: false, formats: fullFormats });

const strict = (properties: object) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const listSchema = (record: object) =>
  strict({
    data: { type: "array", maxItems: 100, items: record },
    pagination: strict({
      page: { type: "integer", minimum: 1 },
      limit: { type: "integer", minimum: 1, maximum: 100 },
      total: { type: "integer", minimum: 0 },
    }),
  });
const text = { type: "string", minLength: 1 };

const isSuccess = {
  "list-leads": ajv.compile(listSchema(lead)),
  "create-lead": ajv.compile(lead),
  "list-conversations": ajv.compile(listSchema(conversation)),
  "send-message": ajv.compile(message),
};

const fault = strict({
  in: { enum: ["query", "body", "header"] },
  field: { type: "string", maxLength: 65 },
  code: { type: "string", pattern: "^[a-z_]+$" },
  message: { type: "string", pattern: "^(must|is) " },
});
const { required, properties } = strict({
  type: text,
  title: text,
  status: { type: "integer" },
  detail: text,
  code: { enum: Object.keys(problems) },
  requestId: text,
});
const isProblem = ajv.compile({
  type: "object",
  properties: { ...properties, errors: { type: "array", minItems: 1, maxItems: 100, items: fault } },
  required,
  additionalProperties: false,
});
const isGatewayResponse = ajv.compile(strict({ message: text }));

/** The statuses that the gateway itself returns, except those of failures. */
const gatewayStatuses = [400, 401, 403, 404, 413, 431];

/**
 * Checks that the response has a documented form and that its parts agree.
 *
 * @param route undefined when the request matches no route
 */
export function expectDocumented({ status, headers, text }: RawResponse, route: RouteName | undefined): void {
  expect(status, text).toBeLessThan(500);
  const body: unknown = JSON.parse(text);
  const type = headers["content-type"];
  if (type === "application/problem+json") expectProblem(status, body);
  else {
    expect(type).toBe("application/json");
    if (status >= 400) {
      expect(isGatewayResponse(body), text).toBe(true);
      expect(gatewayStatuses).toContain(status);
    } else {
      expect(route).toBeDefined();
      if (route === undefined) return;
      expect(status).toBe(routes[route].success);
      expect(isSuccess[route](body), ajv.errorsText(isSuccess[route].errors)).toBe(true);
    }
  }
}

function expectProblem(status: number, body: unknown): void {
  expect(isProblem(body), ajv.errorsText(isProblem.errors)).toBe(true);
  const problem = body as { code: keyof typeof problems; status: number };
  const { code } = problem;
  expect(problem).toMatchObject({ type: `urn:problem-type:${code}`, title: problems[code].title, status });
  expect(problem.status).toBe(problems[code].status);
}
