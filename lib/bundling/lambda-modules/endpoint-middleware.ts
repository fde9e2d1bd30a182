interface Configuration {
  readonly serviceId: string;
  readonly region: () => Promise<string>;
  readonly useFipsEndpoint: () => Promise<boolean>;
  readonly useDualstackEndpoint: () => Promise<boolean>;
  readonly endpointProvider: (parameters: object) => object;
}

type Next = (args: object) => Promise<object>;

/** The endpoints of clients. */
const endpoints = new WeakMap<Configuration, Promise<object>>();

/**
 * Sets the endpoint of a call. It is found once for a client, in place of the SDK's search for each call, whose endpoint
 * could depend on its input.
 *
 * @param readEndpoint reads the endpoint that a variable sets for a service
 */
export const bindEndpointMiddleware =
  (readEndpoint: (serviceId: string) => Promise<string | undefined>) =>
  ({ config }: { readonly config: Configuration }) =>
  (next: Next, context: { endpointV2?: object }) =>
  async (args: object) => {
    const endpoint = endpoints.get(config) ?? findEndpoint(config, readEndpoint);
    endpoints.set(config, endpoint);
    context.endpointV2 = await endpoint;
    return next(args);
  };

async function findEndpoint(
  config: Configuration,
  readEndpoint: (serviceId: string) => Promise<string | undefined>,
): Promise<object> {
  const [Endpoint, Region, UseFIPS, UseDualStack] = await Promise.all([
    readEndpoint(config.serviceId),
    ...[config.region(), config.useFipsEndpoint(), config.useDualstackEndpoint()],
  ]);
  return config.endpointProvider({ Endpoint, Region, UseFIPS, UseDualStack });
}
