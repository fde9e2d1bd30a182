/** The rules of the SDK's endpoints call these: the resolvers in their place do not. */
export const awsEndpointFunctions = {};
