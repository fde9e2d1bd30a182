import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Match } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { only, synthesize } from "../../support/stack/synthesize.ts";

const { template, functions } = await synthesize("dev", { canary: true });
const named = [...functions].map(([id, name]) => ({ id, name }));
const tableArn = { "Fn::GetAtt": [only(template, "AWS::DynamoDB::Table").id, "Arn"] };

/** A statement of a policy. Only statements on items of the table have conditions. */
interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | string[]>> | undefined>>;
}

function readStatements(functionId: string): Statement[] {
  const { Resources } = template.toJSON();
  const { Properties } = Resources[Resources[functionId].Properties.Role["Fn::GetAtt"][0]];
  expect(Properties.ManagedPolicyArns).toBeUndefined();
  return Properties.Policies.flatMap(
    (policy: { PolicyDocument: { Statement: Statement[] } }) => policy.PolicyDocument.Statement,
  );
}

/** The statements on items of the table: their actions and types, as SECURITY.md lists them, and their other limits. */
const tableStatements = named.flatMap(({ id, name }) =>
  readStatements(id).flatMap(({ Action, Resource, Condition: condition }) => {
    const keys = condition?.["ForAllValues:StringLike"]?.["dynamodb:LeadingKeys"];
    const actions = [Action].flat().map((action) => action.replace("dynamodb:", ""));
    const types = keys ? [keys].flat().map((key) => key.replace(/#\*$/, "")) : undefined;
    return condition ? [{ name, actions, types, resources: [Resource].flat(), condition }] : [];
  }),
);

const writes = tableStatements.filter(({ actions }) =>
  actions.some((each) => !/^(?:Query|Scan|.*Get)/.test(each)),
);

test("A statement allows keys of its types in the table, and only the queries of lists may also read indexes", () => {
  for (const { actions, resources, condition, name } of tableStatements) {
    if (actions.join() === "Scan") continue;
    const [own, ...indexes] = resources;
    // `ForAllValues` also matches a request without keys.
    expect(condition.Null).toEqual({ "dynamodb:LeadingKeys": "false" });
    expect(own).toEqual(tableArn);
    if (indexes.length > 0) expect([actions, name]).toEqual([["Query"], expect.stringMatching(/^list-/)]);
  }
});

/** The keys of the indexes, and the expiry. */
const tableAttributes = [
  ...["byStatus", "byLabel", "byStatusAndLabel", "byParent"],
  ...["activeAt", "awaitingReplySince", "expiresAt"],
];

test("A write may set only the index keys and the expiry that items of its types have", () => {
  const named = writes.flatMap(({ types, condition }) => {
    const denied = condition["ForAllValues:StringNotEquals"]?.["dynamodb:Attributes"] ?? [];
    const allowed = condition["ForAllValues:StringEquals"]?.["dynamodb:Attributes"] ?? tableAttributes;
    const sets = tableAttributes.filter(
      (attribute) => allowed.includes(attribute) && !denied.includes(attribute),
    );
    return sets.length > 0 ? [`${types?.join(" ")}: ${sets.join(" ")}`] : [];
  });
  expect([...new Set(named)].sort()).toEqual([
    "CONVERSATION: byStatus byLabel byStatusAndLabel byParent activeAt awaitingReplySince",
    "CONVERSATION: byStatus byStatusAndLabel activeAt awaitingReplySince",
    "COUNT: expiresAt",
    "IDEMPOTENCY: expiresAt",
    "LEAD: byStatus byLabel byStatusAndLabel byParent activeAt",
    "RATE: expiresAt",
  ]);
});

test("Writes may not return items, except idempotency records, rate windows and existing conversations", () => {
  const isBlind = ({ condition }: (typeof writes)[number]) =>
    condition.StringEqualsIfExists?.["dynamodb:ReturnValues"] === "NONE";
  const returning = writes
    .filter((write) => !isBlind(write))
    .map(({ types, actions }) => `${types?.join(" ")} ${actions}`);
  expect([...new Set(returning)].sort()).toEqual([
    "CONVERSATION ConditionCheckItem,UpdateItem",
    "IDEMPOTENCY PutItem",
    "RATE UpdateItem",
  ]);
});

test("The audit's scan may read only keys, and sending a message may use only a few attributes of its lead", () => {
  const limited = tableStatements.flatMap(({ name, actions, types = [], condition }) => {
    const attributes = condition["ForAllValues:StringEquals"]?.["dynamodb:Attributes"];
    const isNamed =
      actions.join() === "UpdateItem" ||
      condition.StringEqualsIfExists?.["dynamodb:Select"] === "SPECIFIC_ATTRIBUTES";
    return attributes && isNamed ? [`${name} ${actions} ${types.join(" ")}: ${attributes}`] : [];
  });
  expect(limited.sort()).toEqual([
    "audit-counts Scan : pk,sk",
    "send-message GetItem LEAD: pk,sk,addresses,undoing",
    "send-message UpdateItem LEAD: pk,sk,undoing",
  ]);
});

const arn = (id: string, attribute = "Arn") => ({ "Fn::GetAtt": [id, attribute] });

/** The actions that the stream reader of a construct may do, each with its resource. */
const readsStream = (construct: string) => [
  ...["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"].map((action) => [
    `dynamodb:${action}`,
    arn(only(template, "AWS::DynamoDB::Table").id, "StreamArn"),
  ]),
  ["sqs:SendMessage", arn(only(template, "AWS::SQS::Queue", construct).id)],
];

test("Apart from items of the table, a role allows only its log and what its function needs", () => {
  const others = named.map(({ id, name }) => {
    const statements = readStatements(id);
    expect(JSON.stringify(statements.map(({ Resource }) => Resource))).not.toContain('"*"');
    const allowed = statements
      .filter(({ Condition }) => !Condition)
      .flatMap(({ Action, Resource }) => [Action].flat().map((action) => [action, Resource] as const));
    return [name, allowed.filter(([action]) => !action.startsWith("logs:"))] as const;
  });
  expect(Object.fromEntries(others.filter(([, allowed]) => allowed.length > 0))).toEqual({
    "maintain-counts": readsStream("Counting"),
    "publish-events": [
      ["events:PutEvents", arn(only(template, "AWS::Events::EventBus").id)],
      ...readsStream("Events"),
    ],
    canary: [["ssm:GetParameter", expect.anything()]],
  });
});

const security = readFileSync(join(import.meta.dirname, "../../../SECURITY.md"), "utf8");

/** Each action with each type of item. A scan has no type. */
const pairs = (actions: string[], types: string[] = [""]) =>
  actions.flatMap((action) => types.map((type) => `${action} ${type}`));

test.each(named)("SECURITY.md lists what the role of $name allows on items of the table", ({ name }) => {
  const [, cell = ""] = security.split(`\n| \`${name}\` | `)[1]?.match(/^(.*?) \| /) ?? [];
  const documented = cell
    .split("; ")
    .flatMap((part) =>
      pairs(part.match(/\b(?:Query|Scan|\w+Item)\b/g) ?? [], part.match(/\b[A-Z]{2,}\b/g) ?? undefined),
    );
  const allowed = tableStatements
    .filter((statement) => statement.name === name)
    .flatMap(({ actions, types }) => pairs(actions, types));
  expect(documented.sort()).toEqual(allowed.sort());
});

test("Only Lambda may assume the roles of the functions, and there is no other policy or role than those of schedules", () => {
  const Principal = { Service: "lambda.amazonaws.com" };
  const Statement = [Match.objectEquals({ Effect: "Allow", Action: "sts:AssumeRole", Principal })];
  const byLambda = { AssumeRolePolicyDocument: { Statement } };
  template.resourcePropertiesCountIs("AWS::IAM::Role", byLambda, functions.size);
  const schedules = Object.keys(template.findResources("AWS::Scheduler::Schedule"));
  template.resourceCountIs("AWS::IAM::Role", functions.size + schedules.length);
  template.resourceCountIs("AWS::IAM::Policy", 0);
});
