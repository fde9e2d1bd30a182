/** The validator of a route's requests, compiled from `shared/routes.ts` when the bundle is built. */
declare module "validate:*" {
  import type { ValidateFunction } from "ajv";

  const validate: ValidateFunction;
  export default validate;
}
