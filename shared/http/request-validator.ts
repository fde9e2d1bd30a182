import type { MiddlewareObj } from "@middy/core";
import validator, { type Options } from "@middy/validator";
import type { ErrorObject, ValidateFunction } from "ajv";
import type { Route, RouteInput } from "../routes.ts";
import type { RouteEvent } from "./route-event.ts";

type EventSchema = NonNullable<Options["eventSchema"]>;

/** Middy's validator, with a function compiled beforehand, which its types do not know. */
export const requestValidator = (validate: ValidateFunction) =>
  validator({ eventSchema: validate as unknown as EventSchema }) as MiddlewareObj<RouteEvent>;

/** The query and the body of an event that the validator of the route has let through. */
export const validInput = <R extends Route>({ query, body }: RouteEvent) =>
  ({ query, body }) as unknown as RouteInput<R>;

/** The errors that the validator found; undefined for an error that it did not throw. */
export function validationErrors({ cause }: Error): ErrorObject[] | undefined {
  const { package: source, data } = (cause ?? {}) as { package?: string; data?: ErrorObject[] };
  return source === "@middy/validator" ? data : undefined;
}
