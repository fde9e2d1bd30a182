import { UserError } from "../../user-error.ts";
import { findFunction, type LocalFunction } from "./functions.ts";
import type { FindResources, Properties } from "./intrinsics.ts";

/** The stack's HTTP API. */
export type ApiDefinition = ReturnType<typeof readApi>;

/** Reads the HTTP API from the template. @throws UserError for routes that the local gateway does not support */
export function readApi(findResources: FindResources, functions: readonly LocalFunction[]) {
  const findFirst = (type: string) => findResources(type)[0]?.properties ?? {};
  const findTarget = (target: unknown) => findFunction(functions, target);
  const integrations = findResources("AWS::ApiGatewayV2::Integration");
  const routes = findResources("AWS::ApiGatewayV2::Route").map(({ properties }) => {
    const integration = integrations.find(({ name }) => properties.Target === `integrations/${name}`);
    const [method = "", path = ""] = String(properties.RouteKey).split(" ");
    if (!path || path.includes("{") || method === "ANY")
      throw new UserError(
        `The local gateway cannot serve the route "${properties.RouteKey}": it supports only a method with a fixed path.`,
      );
    return { method, path, function: findTarget(integration?.properties.IntegrationUri) };
  });
  const properties = findFirst("AWS::ApiGatewayV2::Authorizer");
  const [header] = properties.IdentitySource as [string];
  /** The Lambda authorizer, which the local gateway uses for all routes. */
  const authorizer = {
    function: findTarget(properties.AuthorizerUri),
    /** The request header, in lower case, whose value is the key under which responses are cached. */
    identityHeader: header.replace("$request.header.", "").toLowerCase(),
    ttlSeconds: Number(properties.AuthorizerResultTtlInSeconds),
  };
  const { DefaultRouteSettings } = findFirst("AWS::ApiGatewayV2::Stage");
  const { ThrottlingRateLimit, ThrottlingBurstLimit } = DefaultRouteSettings as Properties;
  /** The token bucket of the API's stage. */
  const throttle = { ratePerSecond: Number(ThrottlingRateLimit), burst: Number(ThrottlingBurstLimit) };
  const { TargetFunctionArn } = findFirst("AWS::Lambda::Url");
  /** The function that has a URL of its own. */
  const urlFunction = TargetFunctionArn === undefined ? undefined : findTarget(TargetFunctionArn);
  return { routes, authorizer, throttle, urlFunction };
}
