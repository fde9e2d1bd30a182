import { Duration, Stack } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import * as gateway from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Certificate, type ICertificate } from "aws-cdk-lib/aws-certificatemanager";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { routes } from "../../shared/routes.ts";
import { ServiceFunction, type ServiceProps } from "./service-function.ts";

/** The HTTP API: one function per route, all behind the authorizer, on the one `$default` stage. */
export class Api extends Construct {
  /** The gateway's own URL of the API, without a trailing slash. */
  readonly url: string;
  /** The custom domain, if one is configured. */
  readonly domain: gateway.DomainName | undefined;
  readonly certificate: ICertificate | undefined;
  readonly stage: gateway.HttpStage;
  readonly accessLog: LogGroup;
  readonly authorizer: ServiceFunction;
  /** The function of each route. */
  readonly handlers: readonly ServiceFunction[];

  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id);
    const { config } = props;
    const apiName = Stack.of(this).stackName;
    const { rateLimitRequests, errorsUrl } = config;
    const rateLimit = rateLimitRequests > 0 && { RATE_LIMIT_REQUESTS: String(rateLimitRequests) };
    // The authorizer reads two items. If that takes longer, a quick failure serves the caller better.
    this.authorizer = new ServiceFunction(this, "authorize", {
      ...props,
      timeout: Duration.seconds(5),
    });
    const httpApi = new gateway.HttpApi(this, "HttpApi", {
      apiName,
      ...(config.corsOrigins.length > 0 && { corsPreflight: corsPreflight(config.corsOrigins) }),
      createDefaultStage: false,
      defaultAuthorizer: new HttpLambdaAuthorizer("Authorizer", this.authorizer.alias, {
        responseTypes: [HttpLambdaResponseType.SIMPLE],
        identitySource: ["$request.header.Authorization"],
        resultsCacheTtl: Duration.seconds(config.authorizerCacheSeconds),
      }),
    });
    const environment = { ...rateLimit, ...(errorsUrl && { ERRORS_URL: errorsUrl }) };
    this.handlers = Object.values(routes).map(({ name, path, method }) => {
      // Long enough for every retry on a busy table, well under the gateway's 30 seconds.
      const timeout = Duration.seconds(10);
      const handler = new ServiceFunction(this, name, { ...props, environment, timeout });
      const integration = new HttpLambdaIntegration(name, handler.alias);
      httpApi.addRoutes({ path, methods: [gateway.HttpMethod[method]], integration });
      return handler;
    });
    this.accessLog = new LogGroup(this, "AccessLogs", {
      // The prefix keeps log groups out of CloudWatch's resource policy, whose size is limited.
      logGroupName: `/aws/vendedlogs/http-apis/${apiName}`,
      retention: config.logRetentionDays,
      removalPolicy: config.removalPolicy,
    });
    this.stage = new gateway.HttpStage(this, "Stage", {
      httpApi,
      autoDeploy: true,
      throttle: { rateLimit: config.throttleRate, burstLimit: config.throttleBurst },
      accessLogSettings: {
        destination: new gateway.LogGroupLogDestination(this.accessLog),
        format: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
      },
    });
    const { domainName, certificateArn } = config;
    if (domainName !== undefined && certificateArn !== undefined) {
      this.certificate = Certificate.fromCertificateArn(this, "Certificate", certificateArn);
      const { certificate, stage } = this;
      const securityPolicy = gateway.SecurityPolicy.TLS_1_2;
      this.domain = new gateway.DomainName(this, "Domain", { domainName, certificate, securityPolicy });
      new gateway.ApiMapping(this, "Mapping", { api: httpApi, domainName: this.domain, stage });
    }
    this.url = httpApi.apiEndpoint;
  }
}

/** What scripts of these origins may send and read. */
const corsPreflight = (origins: readonly string[]): gateway.CorsPreflightOptions => ({
  allowOrigins: [...origins],
  allowMethods: [...new Set(Object.values(routes).map(({ method }) => gateway.CorsHttpMethod[method]))],
  allowHeaders: ["authorization", "content-type", "idempotency-key"],
  exposeHeaders: [
    "accept-encoding",
    "apigw-requestid",
    "date",
    "idempotency-replayed",
    "link",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
  ],
  // The longest time that Chromium caches a preflight response. Each preflight is a billed request.
  maxAge: Duration.hours(2),
});

/**
 * The fields of the gateway's access log. They contain only the method and the path of the request itself, because its query
 * and headers may contain keys and personal data.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging-variables.html
 */
export const accessLogFields = {
  requestId: "$context.requestId",
  requestTime: "$context.requestTime",
  routeKey: "$context.routeKey",
  httpMethod: "$context.httpMethod",
  path: "$context.path",
  status: "$context.status",
  responseLatency: "$context.responseLatency",
  integrationStatus: "$context.integration.status",
  integrationError: "$context.integration.error",
  accountId: "$context.authorizer.accountId",
  keyId: "$context.authorizer.keyId",
  frozenAt: "$context.authorizer.frozenAt",
  authorizerError: "$context.authorizer.error",
  gatewayError: "$context.error.message",
  sourceIp: "$context.identity.sourceIp",
} as const;
