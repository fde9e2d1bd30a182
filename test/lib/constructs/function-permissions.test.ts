import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FunctionName } from "../../../lib/bundling/bundle.ts";
import { only, synthesize } from "../../support/synthesize.ts";

const { template, functions } = await synthesize("dev", { canary: true });
const resources = template.findResources("AWS::Lambda::Function");
const named = [...functions].map(([id, name]) => ({ id, name }));
const tableArn = { "Fn::GetAtt": [only(template, "AWS::DynamoDB::Table").id, "Arn"] };
const indexArn = (name: string) => ({ "Fn::Join": ["", [tableArn, `/index/${name}`]] });

/** A statement as the template has it: a single value is not in a list. */
function allow(action: string | string[], keys: string[], ...indexes: string[]) {
  return {
    Effect: "Allow",
    Action: action,
    // The CDK sorts the resources of a statement.
    Resource: indexes.length ? [tableArn, ...indexes.sort().map(indexArn)] : tableArn,
    Condition: {
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": keys },
      Null: { "dynamodb:LeadingKeys": "false" },
    },
  };
}

/** A statement for writes that do not name these attributes. */
function allowWrite(action: string | string[], keys: string[], denied: string[]) {
  const statement = allow(action, keys);
  const Condition = {
    ...statement.Condition,
    "ForAllValues:StringNotEquals": { "dynamodb:Attributes": denied },
  };
  return { ...statement, Condition };
}

const returnsNothing = { StringEqualsIfExists: { "dynamodb:ReturnValues": "NONE" } };

/** A statement for writes that also return nothing. */
function allowBlindWrite(action: string | string[], keys: string[], denied: string[]) {
  const { Condition, ...statement } = allowWrite(action, keys, denied);
  return { ...statement, Condition: { ...Condition, ...returnsNothing } };
}

const onlyKeys = {
  "ForAllValues:StringEquals": { "dynamodb:Attributes": ["pk", "sk"] },
  StringEqualsIfExists: { "dynamodb:Select": "SPECIFIC_ATTRIBUTES" },
};

/** A statement for reads that show only whether an item exists. */
function allowExistence(keys: string[]) {
  const { Condition, ...statement } = allow("dynamodb:GetItem", keys);
  return { ...statement, Condition: { ...Condition, ...onlyKeys } };
}

const sharedKeys = ["byStatus", "byOrigin", "byStatusAndOrigin", "byParent"];
const indexKeys = [...sharedKeys, "lastMessageAt"];
const putRecord = allowWrite("dynamodb:PutItem", ["IDEMPOTENCY#*"], indexKeys);

/** What the functions of the routes may do to enforce the rate limit. */
const rateLimit = [allowWrite("dynamodb:UpdateItem", ["RATE#*"], indexKeys)];

const writeCounts = [
  allow("dynamodb:GetItem", ["COUNT#*"]),
  allowBlindWrite("dynamodb:PutItem", ["COUNT#*"], [...indexKeys, "expiresAt"]),
];

const ofCanary = ["LEAD", "CONVERSATION", "MESSAGE", "ACTIVE"].flatMap((type) => [
  `${type}#canary`,
  `${type}#canary#*`,
]);
const canaryKeys = allow("dynamodb:Query", ofCanary);

const expected: Record<FunctionName, unknown[]> = {
  "list-leads": [
    allow("dynamodb:Query", ["LEAD#*"], "by-status", "by-origin", "by-status-and-origin", "by-parent"),
    allow("dynamodb:BatchGetItem", ["LEAD#*", "EXTERNAL#*"]),
    allow("dynamodb:GetItem", ["COUNT#*"]),
    ...rateLimit,
  ],
  "create-lead": [
    allow("dynamodb:GetItem", ["LEAD#*", "EXTERNAL#*", "IDEMPOTENCY#*"]),
    allowBlindWrite(["dynamodb:PutItem", "dynamodb:UpdateItem"], ["LEAD#*"], ["lastMessageAt", "expiresAt"]),
    allowBlindWrite("dynamodb:PutItem", ["EXTERNAL#*"], [...indexKeys, "expiresAt"]),
    putRecord,
    ...rateLimit,
  ],
  "list-conversations": [
    allow(
      "dynamodb:Query",
      ["CONVERSATION#*"],
      "by-status",
      "by-origin",
      "by-status-and-origin",
      "by-parent",
      "by-activity",
    ),
    allow("dynamodb:BatchGetItem", ["CONVERSATION#*"]),
    allow("dynamodb:Query", ["MESSAGE#*"]),
    allow("dynamodb:GetItem", ["COUNT#*"]),
    ...rateLimit,
  ],
  "send-message": [
    allowExistence(["LEAD#*"]),
    allow("dynamodb:GetItem", ["ACTIVE#*", "IDEMPOTENCY#*"]),
    allowBlindWrite("dynamodb:PutItem", ["CONVERSATION#*"], ["expiresAt"]),
    allowBlindWrite("dynamodb:PutItem", ["ACTIVE#*", "MESSAGE#*"], [...indexKeys, "expiresAt"]),
    putRecord,
    allowWrite(
      ["dynamodb:ConditionCheckItem", "dynamodb:UpdateItem"],
      ["CONVERSATION#*"],
      [...sharedKeys, "expiresAt"],
    ),
    ...rateLimit,
  ],
  authorize: [allow("dynamodb:GetItem", ["KEY#*"]), allow("dynamodb:GetItem", ["LIMIT#*"])],
  "maintain-counts": [
    allow(["dynamodb:BatchGetItem", "dynamodb:Query"], ["LEAD#*", "CONVERSATION#*"]),
    ...writeCounts,
    {
      Effect: "Allow",
      Action: [
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
      ],
      Resource: { "Fn::GetAtt": [tableArn["Fn::GetAtt"][0], "StreamArn"] },
    },
    {
      Effect: "Allow",
      Action: "sqs:SendMessage",
      Resource: { "Fn::GetAtt": [only(template, "AWS::SQS::Queue", "Counting").id, "Arn"] },
    },
  ],
  "audit-counts": [
    {
      ...{ Effect: "Allow", Action: "dynamodb:Scan", Resource: tableArn },
      Condition: onlyKeys,
    },
    allow("dynamodb:BatchGetItem", ["LEAD#*", "CONVERSATION#*"]),
    allow("dynamodb:Query", ["LEAD#*", "CONVERSATION#*", "COUNT#*"]),
    ...writeCounts,
    allow("dynamodb:GetItem", ["AUDIT#*"]),
    allowBlindWrite("dynamodb:PutItem", ["AUDIT#*"], [...indexKeys, "expiresAt"]),
  ],
  "compose-events": [],
  canary: [
    { ...canaryKeys, Condition: { ...canaryKeys.Condition, ...onlyKeys } },
    allowBlindWrite(
      "dynamodb:DeleteItem",
      [...ofCanary, "EXTERNAL#canary", "EXTERNAL#canary#*"],
      [...indexKeys, "expiresAt"],
    ),
    {
      Effect: "Allow",
      Action: "ssm:GetParameter",
      Resource: {
        "Fn::Join": [
          "",
          [
            ...["arn:", { Ref: "AWS::Partition" }, ":ssm:", { Ref: "AWS::Region" }, ":"],
            ...[{ Ref: "AWS::AccountId" }, ":parameter/leads-and-conversations-dev/canary-key"],
          ],
        ],
      },
    },
  ],
};

/** What a statement allows; only those on items of the table have conditions. */
interface Statement {
  readonly Action: string | string[];
  readonly Condition?: { readonly "ForAllValues:StringLike"?: { readonly "dynamodb:LeadingKeys": string[] } };
}

/** Every statement of the role, from its inline policies and from attached ones. */
function readStatements(roleId: string): Statement[] {
  const { Properties } = template.findResources("AWS::IAM::Role")[roleId] ?? {};
  const attached = Object.values(template.findResources("AWS::IAM::Policy"))
    .filter((policy) => policy.Properties.Roles.some((role: { Ref: string }) => role.Ref === roleId))
    .map((policy) => policy.Properties);
  expect(Properties.ManagedPolicyArns).toBeUndefined();
  return [...Properties.Policies, ...attached].flatMap((policy) => policy.PolicyDocument.Statement);
}

test.each(named)("$name has exactly the permissions that it needs", ({ id, name }) => {
  const { Role, LoggingConfig } = resources[id]?.Properties ?? {};
  expect(readStatements(Role["Fn::GetAtt"][0])).toEqual([
    ...expected[name],
    {
      Effect: "Allow",
      Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
      Resource: { "Fn::GetAtt": [LoggingConfig.LogGroup.Ref, "Arn"] },
    },
  ]);
});

const security = readFileSync(join(import.meta.dirname, "../../../SECURITY.md"), "utf8");

/** Each action on items with each of their types; that of a scan has none. */
const pairs = (actions: string[], types: string[] = [""]) =>
  actions.flatMap((action) => types.map((type) => `${action} ${type}`));

test.each(named)("SECURITY.md has what the role of $name allows on items of the table", ({ id, name }) => {
  const [, cell = ""] = security.split(`\n| \`${name}\` | `)[1]?.match(/^(.*?) \| /) ?? [];
  const documented = cell
    .split("; ")
    .flatMap((part) =>
      pairs(part.match(/\b(?:Query|Scan|\w+Item)\b/g) ?? [], part.match(/\b[A-Z]{2,}\b/g) ?? undefined),
    );
  const statements = readStatements(resources[id]?.Properties.Role["Fn::GetAtt"][0]);
  const allowed = statements.flatMap(({ Action, Condition }) => {
    if (!Condition) return [];
    const keys = Condition["ForAllValues:StringLike"]?.["dynamodb:LeadingKeys"];
    const actions = [Action].flat().map((action) => action.replace("dynamodb:", ""));
    return pairs(actions, keys && [...new Set(keys.map((key) => key.replace(/#.*/, "")))]);
  });
  expect(documented.sort()).toEqual(allowed.sort());
});

test("Only Lambda may assume the roles of the functions, and no other policy exists", () => {
  const pipe = only(template, "AWS::Pipes::Pipe").properties.RoleArn["Fn::GetAtt"][0];
  const schedules = Object.values(template.findResources("AWS::Scheduler::Schedule")).map(
    ({ Properties }) => Properties.Target.RoleArn["Fn::GetAtt"][0],
  );
  const roles = Object.entries(template.findResources("AWS::IAM::Role")).filter(
    ([id]) => ![pipe, ...schedules].includes(id),
  );
  expect(roles).toHaveLength(functions.size);
  for (const [, { Properties }] of roles) {
    expect(Properties.AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: "Allow", Action: "sts:AssumeRole", Principal: { Service: "lambda.amazonaws.com" } },
    ]);
  }
  expect(template.findResources("AWS::IAM::Policy")).toEqual({});
});
