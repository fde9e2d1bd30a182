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
  /** How long the gateway waits for the function, in milliseconds. */
  readonly timeout: number;
}

/** The stack's HTTP API. */
export interface Api {
  readonly apiId: string;
  readonly routes: readonly ApiRoute[];
  /** The token bucket of the API's stage. */
  readonly throttle?: { readonly ratePerSecond: number; readonly burst: number };
}

/** The integration timeout of an HTTP API that sets none, in milliseconds. */
const integrationTimeout = 30_000;

/**
 * Reads the HTTP API from the template.
 *
 * @throws UserError for settings that the local gateway does not support
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
  { RouteKey, AuthorizationType = "NONE" }: Properties,
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
  if (integration?.IntegrationType !== "AWS_PROXY" || integration.PayloadFormatVersion !== "2.0") {
    throw new UserError(`The route "${RouteKey}" is not integrated with a function by payload format 2.0.`);
  }
  if (AuthorizationType !== (authorizer ? "CUSTOM" : "NONE")) {
    throw new UserError(
      `The local gateway does not support the authorization of "${RouteKey}" by ${AuthorizationType}.`,
    );
  }
  return {
    method,
    path,
    function: resolveFunction(integration.IntegrationUri),
    timeout: integrationTimeout,
    ...(authorizer && { authorizer }),
  };
}

function readAuthorizer(
  properties: Properties,
  resolveFunction: (uri: unknown) => LocalFunction,
): Authorizer {
  if (properties.AuthorizerPayloadFormatVersion !== "2.0" || properties.EnableSimpleResponses !== true) {
    throw new UserError(
      "The local gateway supports only authorizers with payload format 2.0 and simple responses.",
    );
  }
  const identityHeaders = (properties.IdentitySource as string[]).map((source) => {
    const [, header] = /^\$request\.header\.(.+)$/.exec(source) ?? [];
    if (!header) throw new UserError(`The local gateway does not support the identity source ${source}.`);
    return header.toLowerCase();
  });
  return {
    function: resolveFunction(properties.AuthorizerUri),
    identityHeaders,
    ttlSeconds: Number(properties.AuthorizerResultTtlInSeconds),
  };
}

function readThrottle(template: Template): Pick<Api, "throttle"> {
  const [[id, properties] = ["", {}]] = findResources(template, "AWS::ApiGatewayV2::Stage");
  if (properties.RouteSettings)
    throw new UserError(`The local gateway does not support the RouteSettings of ${id}.`);
  const settings = (properties.DefaultRouteSettings ?? {}) as Properties;
  const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } = settings;
  return rate === undefined || burst === undefined
    ? {}
    : { throttle: { ratePerSecond: Number(rate), burst: Number(burst) } };
}
