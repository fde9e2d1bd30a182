import { expect, test } from "vitest";
import { UserError } from "../../../../lib/errors.ts";
import { findPartitionKey } from "../../../../lib/local/template/table-definition.ts";
import { parseStack } from "../../../../lib/local/template/template.ts";
import { createTemplate } from "../support/stack.ts";

const findAsset = (key: string) => (key === "probe.zip" ? { directory: "/code", name: "probe" } : undefined);
const parse = (template: unknown) =>
  parseStack("stack", template as ReturnType<typeof createTemplate>, findAsset);

test("a stack is read from its template", () => {
  const stack = parse(createTemplate());
  const [probe, authorize] = stack.functions;
  expect(probe).toEqual({
    name: "Probe",
    label: "probe",
    arn: "arn:aws:lambda:local:000000000000:function:Probe",
    codeDirectory: "/code",
    handler: "index.handler",
    timeout: 10_000,
    memorySize: 512,
    environment: { TABLE_NAME: "probes", TABLE_ARN: "arn:aws:dynamodb:local:000000000000:table/probes" },
    role: {
      name: "Role",
      statements: [{ effect: "Allow", actions: ["dynamodb:GetItem"], resources: ["*"], conditions: [] }],
    },
  });
  expect(authorize).toMatchObject({ timeout: 3000, memorySize: 128, environment: {} });
  expect(stack.routes).toEqual([
    {
      method: "GET",
      path: "/probes",
      function: probe,
      timeout: 30_000,
      authorizer: { function: authorize, identityHeaders: ["authorization"], ttlSeconds: 60 },
    },
  ]);
  expect(stack.throttle).toEqual({ ratePerSecond: 100, burst: 200 });
  expect(stack).toMatchObject({ apiId: "Api", hasCors: false });
  const withCors = createTemplate();
  set(withCors.Resources.Api, { CorsConfiguration: {} });
  expect(parse(withCors).hasCors).toBe(true);
});

test("the limits of an integration and an authorizer are read, and have the defaults of AWS", () => {
  const read = (authorizer: object, integration: object) => {
    const template = createTemplate();
    set(template.Resources.Authorizer, authorizer);
    set(template.Resources.Integration, integration);
    const [route] = parse(template).routes;
    return [route?.authorizer?.ttlSeconds, route?.timeout];
  };
  expect(read({ AuthorizerResultTtlInSeconds: 0 }, { TimeoutInMillis: 5000 })).toEqual([0, 5000]);
  expect(read({ AuthorizerResultTtlInSeconds: undefined }, {})).toEqual([300, 30_000]);
});

test("a role has the statements of its inline policies and of those that are attached to it, managed or not", () => {
  const template = createTemplate();
  const attach = (Type: string, role: string, Action: string) => ({
    Type,
    Properties: {
      Roles: [{ Ref: role }],
      PolicyDocument: { Statement: { Action, Effect: "Deny", Resource: "*" } },
    },
  });
  Object.assign(template.Resources, {
    Policy: attach("AWS::IAM::Policy", "Role", "dynamodb:PutItem"),
    Managed: attach("AWS::IAM::ManagedPolicy", "Role", "dynamodb:DeleteItem"),
    OtherRole: { Type: "AWS::IAM::Role", Properties: {} },
    Others: attach("AWS::IAM::Policy", "OtherRole", "dynamodb:Scan"),
  });
  const [probe] = parse(template).functions;
  expect(probe?.role.statements.map(({ effect, actions }) => [effect, ...actions])).toEqual([
    ["Allow", "dynamodb:GetItem"],
    ["Deny", "dynamodb:PutItem"],
    ["Deny", "dynamodb:DeleteItem"],
  ]);
});

test("an alias stands for its function", () => {
  const template = createTemplate();
  const live = { Ref: "Live" };
  Object.assign(template.Resources, {
    Live: {
      Type: "AWS::Lambda::Alias",
      Properties: { FunctionName: { Ref: "Probe" }, FunctionVersion: "1", Name: "live" },
    },
    Application: { Type: "AWS::CodeDeploy::Application", Properties: { ComputePlatform: "Lambda" } },
  });
  set(template.Resources.Integration, { IntegrationUri: live });
  // Like AWS, it does not take the permission of the function.
  const denied =
    "The template has no permission for API Gateway to call arn:aws:lambda:local:000000000000:function:Probe:live.";
  expect(() => parse(template)).toThrow(new UserError(denied));
  set(template.Resources.ProbePermission, { FunctionName: live });
  const [route] = parse(template).routes;
  expect(route?.function).toMatchObject({ name: "Probe", codeDirectory: "/code" });
});

test("the table is read as the input that creates it", () => {
  const { table } = parse(createTemplate());
  expect(table).toEqual({
    input: {
      TableName: "probes",
      BillingMode: "PAY_PER_REQUEST",
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
        },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
    },
    timeToLiveAttribute: "expiresAt",
  });
  expect(findPartitionKey(table)).toBe("pk");
  expect(findPartitionKey(table, "by-status")).toBe("byStatus");
  expect(findPartitionKey(table, "nowhere")).toBeUndefined();
});

type Resources = Record<string, { Type?: string; Properties: Record<string, unknown> }>;

test.each<[string, (resources: Resources) => void, string]>([
  ["a path parameter", ({ Route }) => set(Route, { RouteKey: "GET /probes/{id}" }), "cannot serve the route"],
  ["any method", ({ Route }) => set(Route, { RouteKey: "ANY /probes" }), "cannot serve the route"],
  ["IAM authorization", ({ Route }) => set(Route, { AuthorizationType: "AWS_IAM" }), "by AWS_IAM"],
  [
    "payload 1.0",
    ({ Integration }) => set(Integration, { PayloadFormatVersion: "1.0" }),
    "payload format 2.0",
  ],
  [
    "an authorizer's payload 1.0",
    ({ Authorizer }) => set(Authorizer, { EnableSimpleResponses: false }),
    "simple responses",
  ],
  [
    "another identity source",
    ({ Authorizer }) => set(Authorizer, { IdentitySource: ["$context.x"] }),
    "$context.x",
  ],
  ["settings of a route", ({ Stage }) => set(Stage, { RouteSettings: {} }), "RouteSettings"],
  [
    "unknown code",
    ({ Probe }) => set(Probe, { Code: { S3Key: "other.zip" } }),
    "not among the stack's assets",
  ],
  ["another table", (resources) => Object.assign(resources, { Second: resources.Table }), "2 tables"],
  [
    "an unknown condition",
    ({ Role }) =>
      set(Role, { Policies: policies({ Condition: { StringLike: { "dynamodb:LeadingKeys": "x" } } }) }),
    "StringLike on dynamodb:LeadingKeys",
  ],
  [
    "an unknown condition key",
    ({ Role }) =>
      set(Role, { Policies: policies({ Condition: { "ForAllValues:StringLike": { "aws:x": "y" } } }) }),
    "ForAllValues:StringLike on aws:x",
  ],
  [
    "an operator for one value on a key with several",
    ({ Role }) =>
      set(Role, {
        Policies: policies({ Condition: { StringEqualsIfExists: { "dynamodb:Attributes": "pk" } } }),
      }),
    "StringEqualsIfExists on dynamodb:Attributes",
  ],
  [
    "a function that the gateway may not call",
    ({ AuthorizePermission }) => set(AuthorizePermission, { Principal: "events.amazonaws.com" }),
    "no permission for API Gateway to call arn:aws:lambda:local:000000000000:function:Authorize.",
  ],
  ["NotAction", ({ Role }) => set(Role, { Policies: policies({ NotAction: "s3:*" }) }), "NotAction"],
  ["NotResource", ({ Role }) => set(Role, { Policies: policies({ NotResource: "*" }) }), "NotResource"],
])("%s is rejected with a UserError", (_, change, message) => {
  const template = createTemplate();
  change(template.Resources as unknown as Resources);
  expect(() => parse(template)).toThrow(UserError);
  expect(() => parse(template)).toThrow(message);
});

const set = (resource: Resources[string] | undefined, properties: object) =>
  Object.assign(resource?.Properties ?? {}, properties);

const policies = (statement: object) => [
  { PolicyDocument: { Statement: { Effect: "Allow", Action: "dynamodb:*", Resource: "*", ...statement } } },
];
