import { expect, test } from "vitest";
import { evaluate } from "../../../lib/local/iam/iam-policy.ts";
import { createResolver, type Properties } from "../../../lib/local/template/intrinsics.ts";
import { synthesize } from "../../support/synthesize.ts";

const [service, connector, other, stranger] = [
  "000000000000",
  "111111111111",
  "222222222222",
  "333333333333",
];
const { template } = await synthesize("prod", { eventAccounts: [connector, other] });
const resolve = createResolver("leads-and-conversations-prod", template.toJSON() as never);
const statements = Object.values(template.findResources("AWS::Events::EventBusPolicy")).map(
  ({ Properties }) => resolve(Properties.Statement) as Properties,
);
const bus = "leads-and-conversations-prod";
const own = "leads-and-conversations";
const ruleArn = (name: string, ofBus = bus) => `arn:aws:events:local:${service}:rule/${ofBus}/${name}`;
const busArn = (account = "", name = "events") => `arn:aws:events:eu-west-1:${account}:event-bus/${name}`;

/** The rules of the bus before a request: the account that made each. */
const creators: Readonly<Record<string, string | undefined>> = {
  mine: connector,
  theirs: other,
  owners: service,
};

interface Request {
  readonly rule?: string;
  readonly ofBus?: string;
  /** The sources that the pattern of the rule names. */
  readonly sources?: readonly string[];
  readonly targets?: readonly string[];
}

/** Whether the policy of the bus allows a request that a role of the account makes. */
function isAllowed(
  account: string,
  action: string,
  { rule = "new", ofBus, ...request }: Request = {},
): boolean {
  const creator = creators[rule];
  const context = {
    "events:creatorAccount": creator === undefined ? [] : [creator],
    "events:source": request.sources ?? [],
    "events:TargetArn": request.targets ?? [],
  };
  const fill = (value: unknown) => String(value).replaceAll(`\${aws:PrincipalAccount}`, account);
  const applicable = statements
    .filter(({ Principal }) =>
      [(Principal as Properties).AWS].flat().includes(`arn:aws:iam::${account}:root`),
    )
    .map(({ Effect, Action, Resource, Condition }) => ({
      effect: Effect,
      actions: [Action].flat(),
      resources: [Resource].flat(),
      conditions: Object.entries(Condition as Record<string, Properties>).flatMap(([operator, keys]) =>
        Object.entries(keys).map(([key, values]) => ({
          operator: operator.replace("ArnLike", "StringLike"),
          key,
          values: [values].flat().map(fill),
        })),
      ),
    }));
  const access = { action: `events:${action}`, resource: ruleArn(rule, ofBus), context };
  // The emulation knows the keys and operators of DynamoDB's policies, which it evaluates like these.
  return evaluate(applicable as never, access as never) === "allowed";
}

const reads = ["DescribeRule", "ListTargetsByRule", "ListTagsForResource"];
const changes = ["EnableRule", "DisableRule", "DeleteRule", "RemoveTargets", "TagResource", "UntagResource"];

test("a named account makes, changes and deletes a rule of its own, which sends to a bus of its own", () => {
  const target = { targets: [busArn(connector), busArn(connector, "second")] };
  for (const rule of ["new", "mine"]) {
    expect(isAllowed(connector, "PutRule", { rule, sources: [own] })).toBe(true);
    expect(isAllowed(connector, "PutTargets", { rule, ...target })).toBe(true);
    for (const action of [...reads, ...changes])
      expect([rule, action, isAllowed(connector, action, { rule })]).toEqual([rule, action, true]);
  }
});

test.each([
  "theirs",
  "owners",
])("it can neither read nor change the rule %s, which another account made", (rule) => {
  expect(isAllowed(connector, "PutRule", { rule, sources: [own] })).toBe(false);
  expect(isAllowed(connector, "PutTargets", { rule, targets: [busArn(connector)] })).toBe(false);
  for (const action of [...reads, ...changes])
    expect([action, isAllowed(connector, action, { rule })]).toEqual([action, false]);
});

test.each([[[]], [["aws.s3"]], [[own, "aws.s3"]]])("its rule cannot match the sources %j", (sources) => {
  expect(isAllowed(connector, "PutRule", { sources })).toBe(false);
});

test.each([
  ["the service's function", `arn:aws:lambda:local:${service}:function:list-leads`],
  ["its own queue", `arn:aws:sqs:local:${connector}:queue`],
  ["a bus of the service", busArn(service, bus)],
  ["a bus of another named account", busArn(other)],
  ["a bus of a stranger", busArn(stranger)],
])("its rule cannot send to %s", (_target, arn) => {
  const targets = [busArn(connector), arn];
  expect(isAllowed(connector, "PutTargets", { rule: "mine", targets })).toBe(false);
});

test("it has no access to the bus itself, or to rules of other buses", () => {
  for (const action of ["PutEvents", "DeleteEventBus", "PutPermission", "ListRules", "CreateArchive"])
    expect([action, isAllowed(connector, action)]).toEqual([action, false]);
  for (const ofBus of ["default", "leads-and-conversations-prod-2"])
    expect(isAllowed(connector, "PutRule", { ofBus, sources: [own] })).toBe(false);
});

test("an account that is not named has no access", () => {
  for (const action of ["PutRule", "PutTargets", ...reads, ...changes])
    expect([action, isAllowed(stranger, action, { sources: [own] })]).toEqual([action, false]);
});

test("the bus has no policy unless accounts are named", async () => {
  (await synthesize("prod")).template.resourceCountIs("AWS::Events::EventBusPolicy", 0);
});
