import { UserError } from "../../user-error.ts";
import { findFunction, type LocalFunction } from "./functions.ts";
import { findResources, type Properties, type Resolve, type Template } from "./intrinsics.ts";

/** A Lambda authorizer of the API. */
export interface Authorizer {
  readonly function: LocalFunction;
  /** The request headers, in lower case, whose values are the key under which responses are cached. */
  readonly identityHeaders: readonly string[];
  readonly ttlSeconds: number;
}

/** A route of the API with its integration. */
export interface ApiRoute {
  readonly method: string;
  readonly path: string;
  readonly function: LocalFunction;
  readonly authorizer?: Authorizer;
}

/** The stack's HTTP API. */
export interface Api {
  readonly apiId: string;
  readonly routes: readonly ApiRoute[];
  /** The token bucket of the API's stage. */
  readonly throttle?: { readonly ratePerSecond: number; readonly burst: number };
}

/**
 * Reads the HTTP API from the template.
 *
 * @throws UserError for a route that the local gateway cannot serve
 */
export function readApi(template: Template, resolve: Resolve, functions: readonly LocalFunction[]): Api {
  const [[apiId] = [""]] = findResources(template, "AWS::ApiGatewayV2::Api");
  const integrations = new Map(findResources(template, "AWS::ApiGatewayV2::Integration"));
  const resolveFunction = (uri: unknown) => findFunction(functions, resolve(uri), "The template calls");
  const authorizers = new Map(
    findResources(template, "AWS::ApiGatewayV2::Authorizer").map(([id, properties]) => [
      id,
      readAuthorizer(properties, resolveFunction),
    ]),
  );
  const routes = findResources(template, "AWS::ApiGatewayV2::Route").map(([, properties]) => {
    const integration = integrations.get(String(resolve(properties.Target)).replace("integrations/", ""));
    const authorizer = authorizers.get(String(resolve(properties.AuthorizerId)));
    return readRoute(properties, integration, authorizer, resolveFunction);
  });
  return { apiId, routes, ...readThrottle(template) };
}

function readRoute(
  { RouteKey }: Properties,
  integration: Properties | undefined,
  authorizer: Authorizer | undefined,
  resolveFunction: (uri: unknown) => LocalFunction,
): ApiRoute {
  const [method = "", path = ""] = String(RouteKey).split(" ");
  if (!path || path.includes("{") || method === "ANY") {
    throw new UserError(
      `The local gateway cannot serve the route "${RouteKey}": it supports only a method with a fixed path.`,
    );
  }
  return {
    method,
    path,
    function: resolveFunction(integration?.IntegrationUri),
    ...(authorizer && { authorizer }),
  };
}

const readAuthorizer = (
  properties: Properties,
  resolveFunction: (uri: unknown) => LocalFunction,
): Authorizer => ({
  function: resolveFunction(properties.AuthorizerUri),
  identityHeaders: (properties.IdentitySource as string[]).map((source) =>
    source.replace("$request.header.", "").toLowerCase(),
  ),
  ttlSeconds: Number(properties.AuthorizerResultTtlInSeconds),
});

function readThrottle(template: Template): Pick<Api, "throttle"> {
  const [[, properties] = ["", {}]] = findResources(template, "AWS::ApiGatewayV2::Stage");
  const settings = (properties.DefaultRouteSettings ?? {}) as Properties;
  const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } = settings;
  return rate === undefined || burst === undefined
    ? {}
    : { throttle: { ratePerSecond: Number(rate), burst: Number(burst) } };
}
