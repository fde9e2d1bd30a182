import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { type EventType, eventSchemas } from "../../../shared/domain/event-schemas.ts";
import { requestOptions } from "../../../shared/schemas/validator.ts";

const ajv = new Ajv2020({ allErrors: true, formats: { ...fullFormats, ...requestOptions.formats } });

/** Validates the detail of an event against the schema of its type; returns the errors. */
export function validateDetail(detail: { readonly type: EventType }) {
  const validate = ajv.compile(eventSchemas[detail.type]);
  return validate(detail) ? [] : validate.errors;
}
