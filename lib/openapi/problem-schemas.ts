import { faultCodes, faultPlaces, maxFaults, type ProblemCode, problems } from "../../shared/errors.ts";
import { problemExamples } from "./examples.ts";

/** Lists values in words. A later version may add some, so no schema may exclude unknown values. */
const listValues = (values: readonly string[]) =>
  `${values.map((value) => `\`${value}\``).join(", ")}, or a newer one`;

/** One fault of a request. */
export const faultSchema = {
  type: "object",
  properties: {
    in: {
      type: "string",
      description: `The part of the request that has the fault: ${listValues(faultPlaces)}.`,
    },
    field: { type: "string", description: "The name, such as `tags[3]`; empty for the whole body." },
    code: {
      type: "string",
      description: `The kind of fault, for programs: ${listValues(faultCodes)}.`,
    },
    message: { type: "string", description: "The fault, in words that follow the field's name." },
  },
  required: ["in", "field", "code", "message"],
};

const errors = {
  type: "array",
  minItems: 1,
  maxItems: maxFaults,
  items: faultSchema,
  description: `Every fault of the request, up to ${maxFaults}.`,
};

const codes = Object.keys(problems) as ProblemCode[];

/** Converts a name such as `lead.created` or `lead_created` to `LeadCreated`. */
export const pascalCase = (name: string) =>
  name.replaceAll(/(?:^|[._])(.)/g, (_, letter: string) => letter.toUpperCase());

/** The problems with the same status, including this one. They share a schema: generators make up a name for a choice. */
export const codesLike = (code: ProblemCode, among: readonly ProblemCode[] = codes) =>
  among.filter((other) => problems[other].status === problems[code].status);

function problemSchema(code: ProblemCode) {
  const alike = codesLike(code);
  const hasErrors = "errors" in problemExamples[code];
  const hasId = "id" in problemExamples[code];
  const properties = {
    type: {
      type: "string",
      format: "uri",
      description:
        "`urn:problem-type:` and the code, or the address of its description, if the stage names one.",
    },
    title: { type: "string", description: "The kind of error, in words." },
    status: { type: "integer", const: problems[code].status, description: "The status of the response." },
    detail: { type: "string", description: "A sentence that says what happened." },
    code: { type: "string", description: `The kind of error, for programs: ${listValues(alike)}.` },
    requestId: { type: "string", description: "The id of the request in the service's log." },
    ...(hasErrors && { errors }),
    ...(hasId && {
      id: { type: "string", description: "The id of the lead or conversation that `detail` is about." },
    }),
  };
  return { type: "object", properties, required: Object.keys(properties) };
}

/** The names of the statuses that several problems have. */
const names: Readonly<Record<number, string>> = {
  404: "NotFound",
  409: "Conflict",
  429: "TooManyRequests",
  503: "Unavailable",
};

/** The name of a problem's schema: that of a shared status, or `InternalError` for `internal_error`. */
export const problemName = (code: ProblemCode) => names[problems[code].status] ?? pascalCase(code);

/** The named schemas of the problems, one for each status, with an example of the first problem. */
export const problemComponents = Object.fromEntries(
  codes
    .filter((code) => codesLike(code)[0] === code)
    .map((code) => [`${problemName(code)}Problem`, [problemSchema(code), problemExamples[code]] as const]),
);

/** An error of API Gateway. */
export const gatewayError = {
  type: "object",
  properties: { message: { type: "string", description: "What happened, in a few words." } },
  required: ["message"],
};
