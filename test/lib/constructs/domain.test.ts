import { expect, test } from "vitest";
import { openApiDocument } from "../../../lib/openapi/document.ts";
import { only, synthesize } from "../../support/stack/synthesize.ts";

const certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/8c5b0f9a-6f0e-4b3a-9d55-0f2a1c3d4e5f";
const served = {
  corsOrigins: ["https://app.example.com", "https://admin.example.com"],
  domainName: "api.example.com",
  certificateArn: certificate,
};
const { template } = await synthesize("prod", served);
const api = only(template, "AWS::ApiGatewayV2::Api");
const domain = only(template, "AWS::ApiGatewayV2::DomainName");
const cors = api.properties.CorsConfiguration;

/** Every value under a key, at any depth. */
function findValues(key: string, value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (name === key ? [inner] : findValues(key, inner)));
}

test("Only scripts of the listed origins may call the routes, with a key and without cookies", () => {
  expect(cors).toEqual({
    AllowOrigins: ["https://app.example.com", "https://admin.example.com"],
    AllowMethods: ["GET", "POST"],
    AllowHeaders: ["authorization", "content-type", "idempotency-key"],
    ExposeHeaders: expect.any(Array),
    MaxAge: 7200,
  });
});

const { paths, components } = openApiDocument();

test("Scripts can read each documented response header that browsers hide by default", () => {
  const documented = findValues("headers", [paths, components.responses]).flatMap((headers) =>
    Object.keys(headers as object),
  );
  const names = new Set(documented.map((name) => name.toLowerCase()));
  // Browsers never hide Cache-Control, and use the others themselves.
  for (const name of ["cache-control", "content-encoding", "vary"]) expect(names.delete(name)).toBe(true);
  // The gateway sends it with every response.
  names.add("date");
  expect([...cors.ExposeHeaders].sort()).toEqual([...names].sort());
});

test("The domain has its certificate and requires TLS 1.2", () => {
  expect(domain.properties).toEqual({
    DomainName: "api.example.com",
    DomainNameConfigurations: [
      { CertificateArn: certificate, EndpointType: "REGIONAL", SecurityPolicy: "TLS_1_2" },
    ],
  });
});

test("The outputs have the target for the DNS record and the gateway's own URL", () => {
  const outputs = template.findOutputs("*");
  expect(outputs.DomainTarget?.Value).toEqual({ "Fn::GetAtt": [domain.id, "RegionalDomainName"] });
  expect(outputs.DomainTargetZone?.Value).toEqual({ "Fn::GetAtt": [domain.id, "RegionalHostedZoneId"] });
  expect(outputs.ApiUrl?.Value).toEqual({ "Fn::GetAtt": [api.id, "ApiEndpoint"] });
});
