import { unused } from "./unused.ts";

/** The middleware that is in the SDK's place finds endpoints without it. */
export const bindGetEndpointFromInstructions = () => unused;

export { unused as resolveParams };
