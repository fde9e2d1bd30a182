import { expect, test } from "vitest";
import { accessLogFields } from "../../../lib/constructs/api.ts";
import { openApiDocument } from "../../../lib/openapi/document.ts";
import { withEverything } from "../../support/stack/stage-files.ts";
import { only, synthesize } from "../../support/stack/synthesize.ts";

const { template, aliases } = await synthesize("dev");
const api = only(template, "AWS::ApiGatewayV2::Api");
const authorizer = only(template, "AWS::ApiGatewayV2::Authorizer");
const stage = only(template, "AWS::ApiGatewayV2::Stage");

/** The function of a route's integration, with the payload format. */
function readIntegration(target: { "Fn::Join": [string, [string, { Ref: string }]] }) {
  const id = target["Fn::Join"][1][1].Ref;
  const { Properties } = template.findResources("AWS::ApiGatewayV2::Integration")[id] ?? {};
  const { IntegrationUri, ...settings } = Properties;
  return { function: aliases.get(IntegrationUri.Ref), ...settings };
}

test("The API has exactly four routes, each with its own function, all behind the authorizer", () => {
  const deployed = Object.values(template.findResources("AWS::ApiGatewayV2::Route")).map(({ Properties }) => {
    const { RouteKey, Target, ...settings } = Properties;
    return [RouteKey, { ...readIntegration(Target), ...settings }];
  });
  // Without a time limit of its own, an integration has the longest one, of 30 seconds.
  const to = (name: string) => ({
    function: name,
    ApiId: { Ref: api.id },
    IntegrationType: "AWS_PROXY",
    PayloadFormatVersion: "2.0",
    AuthorizationType: "CUSTOM",
    AuthorizerId: { Ref: authorizer.id },
  });
  expect(deployed).toHaveLength(4);
  expect(Object.fromEntries(deployed)).toEqual({
    "GET /api/v1/leads": to("list-leads"),
    "POST /api/v1/leads": to("create-lead"),
    "GET /api/v1/conversations": to("list-conversations"),
    "POST /api/v1/conversations": to("send-message"),
  });
});

test("The authorizer reads the Authorization header and returns simple responses", () => {
  const { AuthorizerUri, ...settings } = authorizer.properties;
  expect(settings).toEqual({
    Name: "Authorizer",
    ApiId: { Ref: api.id },
    AuthorizerType: "REQUEST",
    AuthorizerPayloadFormatVersion: "2.0",
    EnableSimpleResponses: true,
    IdentitySource: ["$request.header.Authorization"],
    AuthorizerResultTtlInSeconds: 60,
  });
  const parts: { Ref?: string }[] = AuthorizerUri["Fn::Join"][1];
  expect(parts.map(({ Ref = "" }) => aliases.get(Ref))).toContain("authorize");
});

test("The one stage is $default, deployed automatically and throttled", () => {
  const { AccessLogSettings, ...settings } = stage.properties;
  expect(api.properties).toEqual({ Name: "leads-and-conversations-dev", ProtocolType: "HTTP" });
  expect(settings).toEqual({
    ApiId: { Ref: api.id },
    StageName: "$default",
    AutoDeploy: true,
    DefaultRouteSettings: { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 500 },
  });
});

test("The access log has route, status, latencies, account and errors, but of the request only its method and path", () => {
  const { Format, DestinationArn } = stage.properties.AccessLogSettings;
  expect(JSON.parse(Format)).toEqual(accessLogFields);
  // The query and the headers may contain keys and personal data.
  expect(Format).not.toMatch(/query|header|context\.(?:path|domain)\w/i);
  const [logGroupId] = DestinationArn["Fn::GetAtt"];
  expect(template.findResources("AWS::Logs::LogGroup")[logGroupId]?.Properties).toEqual({
    LogGroupName: "/aws/vendedlogs/http-apis/leads-and-conversations-dev",
    RetentionInDays: 7,
  });
});

const withDomain = (await synthesize("prod", withEverything)).template;
const cors = only(withDomain, "AWS::ApiGatewayV2::Api").properties.CorsConfiguration;

test("Only scripts of the listed origins may call the routes, with a key and without cookies", () => {
  expect(cors).toEqual({
    AllowOrigins: withEverything.corsOrigins,
    AllowMethods: ["GET", "POST"],
    AllowHeaders: ["authorization", "content-type", "idempotency-key"],
    ExposeHeaders: expect.any(Array),
    MaxAge: 7200,
  });
});

test("Scripts can read each documented response header that browsers hide by default", () => {
  const { paths, components } = openApiDocument();
  const names = new Set<string>();
  JSON.stringify([paths, components.responses], (key, value) => {
    if (key === "headers") for (const name of Object.keys(value)) names.add(name.toLowerCase());
    return value;
  });
  // Browsers never hide Cache-Control, and use the others themselves.
  for (const name of ["cache-control", "content-encoding", "vary"]) expect(names.delete(name)).toBe(true);
  // The gateway sends it with every response.
  names.add("date");
  expect([...cors.ExposeHeaders].sort()).toEqual([...names].sort());
});

test("The domain has its certificate and requires TLS 1.2, and outputs have the target for its DNS record", () => {
  const { id, properties } = only(withDomain, "AWS::ApiGatewayV2::DomainName");
  expect(properties).toEqual({
    DomainName: withEverything.domainName,
    DomainNameConfigurations: [
      { CertificateArn: withEverything.certificateArn, EndpointType: "REGIONAL", SecurityPolicy: "TLS_1_2" },
    ],
  });
  const { DomainTarget, DomainTargetZone, ApiUrl } = withDomain.findOutputs("*");
  expect(DomainTarget?.Value).toEqual({ "Fn::GetAtt": [id, "RegionalDomainName"] });
  expect(DomainTargetZone?.Value).toEqual({ "Fn::GetAtt": [id, "RegionalHostedZoneId"] });
  // The gateway's own URL.
  expect(ApiUrl?.Value).toEqual({
    "Fn::GetAtt": [only(withDomain, "AWS::ApiGatewayV2::Api").id, "ApiEndpoint"],
  });
});
