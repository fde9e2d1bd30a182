import { endpointResolver } from "./endpoints.ts";

/** Replaces the rules of DynamoDB's endpoints. `endpoints.ts` says why that is safe. */
export const defaultEndpointResolver = endpointResolver("dynamodb");
