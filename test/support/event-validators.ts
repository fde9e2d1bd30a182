import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { type EventType, eventSchemas } from "../../shared/domain/event-schemas.ts";

const ajv = new Ajv2020({ allErrors: true, formats: { ...fullFormats, "date-time": true } });

/** What is wrong with the detail of an event, by the schema of its type; nothing when it is as promised. */
export function faultsOf(detail: { readonly type: EventType }) {
  const validate = ajv.compile(eventSchemas[detail.type]);
  return validate(detail) ? [] : validate.errors;
}
