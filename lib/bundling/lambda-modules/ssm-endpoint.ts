import { endpointResolver } from "./endpoints.ts";

/** Replaces the rules of the Parameter Store's endpoints. `endpoints.ts` says why that is safe. */
export const defaultEndpointResolver = endpointResolver("ssm");
