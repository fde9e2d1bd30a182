/**
 * The settings of endpoint discovery. Replaces those of the SDK, with the cache that they create for the endpoints.
 *
 * Safe: the SDK discovers endpoints only if a variable or a setting says so, and no function sets one. Without discovery,
 * requests go to the endpoint of the region, which serves all of DynamoDB.
 */
export const resolveEndpointDiscoveryConfig = <T>(config: T): T => config;

export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => false,
  configFileSelector: () => false,
  default: false,
};
