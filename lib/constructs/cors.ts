import { Duration } from "aws-cdk-lib";
import { CorsHttpMethod, type CorsPreflightOptions } from "aws-cdk-lib/aws-apigatewayv2";
import { routes } from "../../shared/routes.ts";

const methods = new Set(Object.values(routes).map(({ method }) => method));

/** What scripts of these origins may send and see; undefined for no origins: then the gateway knows no CORS at all. */
export const corsPreflight = (origins: readonly string[]): CorsPreflightOptions | undefined =>
  origins.length === 0
    ? undefined
    : {
        allowOrigins: [...origins],
        allowMethods: [...methods].map((method) => CorsHttpMethod[method]),
        allowHeaders: ["authorization", "content-type", "idempotency-key"],
        exposeHeaders: ["idempotency-replayed", "link", "ratelimit", "ratelimit-policy", "retry-after"],
        // The longest that Chromium keeps the answer; each preflight is a request that is paid for.
        maxAge: Duration.hours(2),
      };
