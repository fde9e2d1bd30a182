/**
 * The functions that the SDK's rules of endpoints call. Replaces them and their list of AWS's partitions.
 *
 * Safe: `endpoints.ts` replaces all rules in a bundle, so nothing calls them. A call would be an error, not another
 * endpoint.
 */
export const awsEndpointFunctions = {};
