import { endpointResolver } from "./endpoints.ts";

export const defaultEndpointResolver = endpointResolver("ssm");
