import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LocalFunction } from "../../../../lib/local/template/functions.ts";

/** Creates a directory that is removed after the test. @returns its real path */
export async function temporaryDirectory(): Promise<string> {
  // The temporary directory of macOS is behind a link.
  const directory = await mkdtemp(join(await realpath(tmpdir()), "local-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Creates a function of the local run. @param source the code of its module, which exports `handler` */
export async function createFunction(
  source: string,
  settings: Partial<LocalFunction> = {},
): Promise<LocalFunction> {
  const codeDirectory = await temporaryDirectory();
  await writeFile(join(codeDirectory, "index.cjs"), source);
  return {
    name: "Probe",
    label: "probe",
    arn: "arn:aws:lambda:local:000000000000:function:Probe",
    codeDirectory,
    handler: "index.handler",
    timeout: 3000,
    memorySize: 128,
    environment: {},
    role: { name: "ProbeRole", statements: [] },
    ...settings,
  };
}

const inlinePolicy = (Statement: unknown) => ({ PolicyName: "Data", PolicyDocument: { Statement } });

/** Creates a template as the CDK writes it: a table, a function with its role, a route behind an authorizer. */
export function createTemplate(
  statement: unknown = { Action: "dynamodb:GetItem", Effect: "Allow", Resource: "*" },
) {
  const lambda = (properties: object) => ({
    Type: "AWS::Lambda::Function",
    Properties: {
      Code: { S3Key: "probe.zip" },
      Handler: "index.handler",
      Role: { "Fn::GetAtt": ["Role", "Arn"] },
      ...properties,
    },
  });
  const permission = (id: string) => ({
    Type: "AWS::Lambda::Permission",
    Properties: {
      Action: "lambda:InvokeFunction",
      FunctionName: { "Fn::GetAtt": [id, "Arn"] },
      Principal: "apigateway.amazonaws.com",
    },
  });
  return {
    Resources: {
      Table: {
        Type: "AWS::DynamoDB::Table",
        Properties: {
          TableName: "probes",
          KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
          AttributeDefinitions: [
            { AttributeName: "pk", AttributeType: "S" },
            { AttributeName: "byStatus", AttributeType: "S" },
          ],
          GlobalSecondaryIndexes: [
            {
              IndexName: "by-status",
              KeySchema: [{ AttributeName: "byStatus", KeyType: "HASH" }],
              Projection: { ProjectionType: "ALL" },
              ContributorInsightsSpecification: { Enabled: false },
            },
          ],
          StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
          TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
        },
      },
      Role: { Type: "AWS::IAM::Role", Properties: { Policies: [inlinePolicy([statement])] } },
      Attached: {
        Type: "AWS::IAM::Policy",
        Properties: {
          Roles: [{ Ref: "Role" }],
          PolicyDocument: { Statement: { Action: "xray:PutTraceSegments", Effect: "Allow", Resource: "*" } },
        },
      },
      Probe: lambda({
        Timeout: 10,
        MemorySize: 512,
        Environment: {
          Variables: { TABLE_NAME: { Ref: "Table" }, TABLE_ARN: { "Fn::GetAtt": ["Table", "Arn"] } },
        },
      }),
      Authorize: lambda({}),
      ProbePermission: permission("Probe"),
      AuthorizePermission: permission("Authorize"),
      Api: { Type: "AWS::ApiGatewayV2::Api", Properties: {} },
      Integration: {
        Type: "AWS::ApiGatewayV2::Integration",
        Properties: {
          IntegrationType: "AWS_PROXY",
          IntegrationUri: { "Fn::GetAtt": ["Probe", "Arn"] },
          PayloadFormatVersion: "2.0",
        },
      },
      Authorizer: {
        Type: "AWS::ApiGatewayV2::Authorizer",
        Properties: {
          AuthorizerPayloadFormatVersion: "2.0",
          AuthorizerResultTtlInSeconds: 60,
          EnableSimpleResponses: true,
          IdentitySource: ["$request.header.Authorization"],
          AuthorizerUri: {
            "Fn::Join": [
              "",
              [
                "arn:aws:apigateway:",
                { Ref: "AWS::Region" },
                ":lambda:path/2015-03-31/functions/",
                { "Fn::GetAtt": ["Authorize", "Arn"] },
                "/invocations",
              ],
            ],
          },
        },
      },
      Route: {
        Type: "AWS::ApiGatewayV2::Route",
        Properties: {
          AuthorizationType: "CUSTOM",
          AuthorizerId: { Ref: "Authorizer" },
          RouteKey: "GET /probes",
          Target: { "Fn::Join": ["", ["integrations/", { Ref: "Integration" }]] },
        },
      },
      Stage: {
        Type: "AWS::ApiGatewayV2::Stage",
        Properties: { DefaultRouteSettings: { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 } },
      },
    },
  };
}
