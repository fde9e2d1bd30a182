import { Duration } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  ApiMapping,
  DomainName,
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { type Route, type RouteName, routes } from "../../shared/routes.ts";
import type { Config } from "../config/config.ts";
import { accessLogFields } from "./access-log.ts";
import { corsPreflight } from "./cors.ts";

interface ApiProps {
  readonly config: Config;
  readonly apiName: string;
  readonly authorizer: IFunction;
  /** Gives the function of a route; called once for each. */
  readonly handler: (route: RouteName) => IFunction;
}

/** The HTTP API: a function for each route, all behind the authorizer, on the one `$default` stage. */
export class Api extends Construct {
  /** The gateway's own address of the API, without a slash at its end; it goes on beside a custom domain. */
  readonly url: string;
  /** The custom domain of the API, where it has one. */
  readonly domain: DomainName | undefined;
  readonly stage: HttpStage;
  readonly accessLog: LogGroup;

  constructor(scope: Construct, id: string, { config, apiName, authorizer, handler }: ApiProps) {
    super(scope, id);
    const cors = corsPreflight(config.corsOrigins);
    const httpApi = new HttpApi(this, "HttpApi", {
      apiName,
      ...(cors && { corsPreflight: cors }),
      createDefaultStage: false,
      defaultAuthorizer: new HttpLambdaAuthorizer("Authorizer", authorizer, {
        responseTypes: [HttpLambdaResponseType.SIMPLE],
        identitySource: ["$request.header.Authorization"],
        resultsCacheTtl: Duration.seconds(config.authorizerCacheSeconds),
      }),
    });
    for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
      httpApi.addRoutes({
        path: route.path,
        methods: [HttpMethod[route.method]],
        integration: new HttpLambdaIntegration(name, handler(name)),
      });
    }
    this.accessLog = new LogGroup(this, "AccessLogs", {
      // The prefix keeps log groups out of CloudWatch's resource policy, whose size is limited.
      logGroupName: `/aws/vendedlogs/http-apis/${apiName}`,
      retention: config.logRetentionDays,
      removalPolicy: config.removalPolicy,
    });
    this.domain = this.createDomain(config);
    this.stage = this.addStage(httpApi, config);
    if (this.domain) {
      new ApiMapping(this, "Mapping", { api: httpApi, domainName: this.domain, stage: this.stage });
    }
    this.url = httpApi.apiEndpoint;
  }

  private createDomain({ domainName, certificateArn }: Config): DomainName | undefined {
    if (domainName === undefined || certificateArn === undefined) return undefined;
    return new DomainName(this, "Domain", {
      domainName,
      certificate: Certificate.fromCertificateArn(this, "Certificate", certificateArn),
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
  }

  private addStage(httpApi: HttpApi, config: Config): HttpStage {
    return new HttpStage(this, "Stage", {
      httpApi,
      autoDeploy: true,
      throttle: { rateLimit: config.throttleRate, burstLimit: config.throttleBurst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.accessLog),
        format: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
      },
    });
  }
}
