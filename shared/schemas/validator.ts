import { createRequire } from "node:module";
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { fullFormats } from "ajv-formats/dist/formats.js";
import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { notBlank, storable } from "../normalize-label.ts";

/** The schema of a JSON object. */
export interface ObjectSchema {
  readonly properties: object;
  readonly required?: readonly string[];
}

/** Deferred until the schema is known: the type of every schema at once is too deep for the compiler. */
export type Inferred<Schema> = Schema extends JSONSchema ? FromSchema<Schema> : never;

/** An error that Ajv finds. In bundles, it does not state its place in the schema. */
export type ValidationError = Omit<ErrorObject, "schemaPath">;

/** Checks an object, as Ajv does. */
export interface Validator<T = unknown> {
  (value: unknown): value is T;
  /** The errors of the last value. */
  errors?: ValidationError[] | null | undefined;
  /** The names of the properties in the schema. */
  readonly properties: readonly string[];
}

/** A validator that its first call compiles. Bundles contain it compiled already: see `lib/bundling/validators.ts`. */
export interface UncompiledValidator<T = unknown> extends Validator<T> {
  readonly schema: ObjectSchema;
  readonly options: Options;
}

/** Ajv's options for requests: Ajv lists every fault, not only the first. */
export const requestOptions = {
  allErrors: true,
  strict: true,
  strictTypes: false,
  ownProperties: true,
  messages: false,
  formats: { email: fullFormats.email, "date-time": true, notBlank, storable },
} as const satisfies Options;

/** A time as the service writes it. */
export const writtenTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Ajv's options for stored records. Email addresses and texts were checked when they were stored: the stricter rules of
 * another release must not make them unreadable.
 */
const recordOptions = {
  strict: true,
  strictTypes: false,
  messages: false,
  formats: { email: true, "date-time": writtenTime, notBlank: /\S/, storable: true },
} as const satisfies Options;

/** A validator of requests. @throws Error at its first call when Ajv does not know the schema's keywords */
export const requestValidator = (schema: ObjectSchema): Validator => validator(schema, requestOptions);

/** A validator of stored records, which may have further attributes. */
export const recordValidator = <Schema extends ObjectSchema>({ properties, required = [] }: Schema) =>
  validator<Inferred<Schema>>({ properties, required }, recordOptions);

function validator<T>(objectSchema: ObjectSchema, options: Options): UncompiledValidator<T> {
  const schema = { type: "object", ...objectSchema };
  let compiled: ValidateFunction<T> | undefined;
  const validate = (value: unknown): value is T => {
    compiled ??= compile<T>(schema, options);
    const isValid = compiled(value);
    all.errors = compiled.errors;
    return isValid;
  };
  const properties = Object.keys(schema.properties);
  const all: UncompiledValidator<T> = Object.assign(validate, { schema, options, properties });
  return all;
}

function compile<T>(schema: object, options: Options): ValidateFunction<T> {
  // Loaded on demand, because loading Ajv takes longer than many commands take to run.
  const load = createRequire(import.meta.url);
  const { Ajv } = load("ajv") as typeof import("ajv");
  return new Ajv({ ...options, meta: false, validateSchema: false }).compile<T>(schema);
}
