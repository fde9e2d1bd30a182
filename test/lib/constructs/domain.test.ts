import { expect, test } from "vitest";
import { openApiDocument } from "../../../lib/openapi/document.ts";
import { only, synthesize } from "../../support/synthesize.ts";

const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/8c5b0f9a-6f0e-4b3a-9d55-0f2a1c3d4e5f";
const plain = await synthesize("dev");
const { template, report } = await synthesize("prod", {
  corsOrigins: "https://app.example.com,https://admin.example.com",
  domainName: "api.example.com",
  certificateArn: certificate,
});
const api = only(template, "AWS::ApiGatewayV2::Api");
const domain = only(template, "AWS::ApiGatewayV2::DomainName");
const stage = only(template, "AWS::ApiGatewayV2::Stage");
const cors = api.properties.CorsConfiguration;

/** Every value under a key, at any depth. */
function valuesOf(key: string, value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (name === key ? [inner] : valuesOf(key, inner)));
}

test("Without their settings there is neither CORS nor a domain", () => {
  expect(only(plain.template, "AWS::ApiGatewayV2::Api").properties).not.toHaveProperty("CorsConfiguration");
  plain.template.resourceCountIs("AWS::ApiGatewayV2::DomainName", 0);
  plain.template.resourceCountIs("AWS::ApiGatewayV2::ApiMapping", 0);
  expect(Object.keys(plain.template.findOutputs("*")).sort()).toEqual([
    "ApiUrl",
    "EventBusName",
    "TableName",
  ]);
});

test("Scripts of the listed origins alone may call the routes, with a key and without cookies", () => {
  expect(cors).toEqual({
    AllowOrigins: ["https://app.example.com", "https://admin.example.com"],
    AllowMethods: ["GET", "POST"],
    AllowHeaders: ["authorization", "content-type", "idempotency-key"],
    ExposeHeaders: expect.any(Array),
    MaxAge: 7200,
  });
});

const { paths, components } = openApiDocument();

test("Scripts see each header of the functions' answers that the document has and browsers hide", () => {
  const documented = valuesOf("headers", [paths, components.responses]).flatMap((headers) =>
    Object.keys(headers as object),
  );
  const names = new Set(documented.map((name) => name.toLowerCase()));
  // The gateway's id is in every problem's body too; Cache-Control is never hidden.
  for (const name of ["apigw-requestid", "cache-control"]) expect(names.delete(name)).toBe(true);
  expect([...cors.ExposeHeaders].sort()).toEqual([...names].sort());
});

test("The domain has its certificate and takes TLS 1.2 at least", () => {
  expect(domain.properties).toEqual({
    DomainName: "api.example.com",
    DomainNameConfigurations: [
      { CertificateArn: certificate, EndpointType: "REGIONAL", SecurityPolicy: "TLS_1_2" },
    ],
  });
});

test("The domain leads to the one stage, at its root", () => {
  const { properties, resource } = only(template, "AWS::ApiGatewayV2::ApiMapping");
  expect(properties).toEqual({
    ApiId: { Ref: api.id },
    DomainName: { Ref: domain.id },
    Stage: "$default",
  });
  // The stage's name is written out, so nothing else makes CloudFormation create the stage first.
  expect(resource.DependsOn).toContain(stage.id);
});

test("The target that the name's DNS record needs is an output, beside the gateway's own address", () => {
  const outputs = template.findOutputs("*");
  expect(outputs.DomainTarget?.Value).toEqual({ "Fn::GetAtt": [domain.id, "RegionalDomainName"] });
  expect(outputs.ApiUrl?.Value).toEqual({ "Fn::GetAtt": [api.id, "ApiEndpoint"] });
});

test("Neither brings a finding", () => {
  expect(report.pluginReports).toEqual([]);
});
