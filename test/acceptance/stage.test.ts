import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import {
  DeleteRuleCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import { CreateQueueCommand, DeleteQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { toUserError } from "../../lib/ops/output/aws-errors.ts";
import { errorMessage, UserError } from "../../lib/user-error.ts";
import { mockClient } from "../support/tables/mocked-client.ts";
import { accept } from "./acceptance.ts";
import { compared } from "./finding.ts";
import { open } from "./open.ts";
import type { Acceptance, Phase } from "./phase.ts";
import { kinds, readUnits } from "./phases/cost.ts";
import { events } from "./phases/events.ts";

const cloudFormation = mockClient(CloudFormationClient);
const table = mockClient(DynamoDBDocumentClient);
const [eventBridge, sqs] = [mockClient(EventBridgeClient), mockClient(SQSClient)];
beforeEach(() => {
  for (const client of [cloudFormation, table, eventBridge, sqs]) client.reset();
  eventBridge.onAnyCommand().resolves({});
  sqs.onAnyCommand().resolves({});
});

const stackName = "leads-and-conversations-dev";
const onStage = { stage: "dev" };

const ApiUrl = "http://127.0.0.1:1";

/** The stack as AWS describes it. */
const deploy = (outputs: Readonly<Record<string, string>> = { ApiUrl }, isProtected = false) =>
  cloudFormation.on(DescribeStacksCommand).resolves({
    Stacks: [
      {
        ...{ StackName: stackName, CreationTime: new Date(), StackStatus: "CREATE_COMPLETE" },
        EnableTerminationProtection: isProtected,
        Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
      },
    ],
  });
const fail = (error: object) =>
  cloudFormation.on(DescribeStacksCommand).rejects(Object.assign(new Error(), error));
const missing = { name: "ValidationError", message: `Stack with id ${stackName} does not exist` };
const offline = { message: "getaddrinfo ENOTFOUND cloudformation", code: "ENOTFOUND" };
const protectedOne = () => deploy({ ApiUrl }, true);

test.each<[string, Parameters<typeof open>[0], () => unknown, string]>([
  ["a stage without a file", { stage: "fresh" }, () => {}, "There is no stages/fresh.json"],
  ["a stage whose stack is protected", onStage, protectedOne, "The stage dev keeps its data."],
  ["a protected stage that is down", { ...onStage, yes: true }, protectedOne, "does not respond"],
  ["a stage that keeps its data", { stage: "prod" }, deploy, "The stage prod keeps its data."],
  ["a stage with --yes that is down", { stage: "prod", yes: true }, deploy, "does not respond"],
  ["a stack without an API", onStage, () => deploy({}), "has no output ApiUrl: its state is CREATE_COMPLETE"],
  ["a stage that is not deployed", onStage, () => fail(missing), `${stackName}: ${missing.message}.`],
  ["a stage without a network", onStage, () => fail(offline), `${stackName}: ${offline.message}.`],
])("a run refuses %s, and writes nothing", async (_, target, arrange, sentence) => {
  arrange();
  const opening = open(target, { signal: AbortSignal.abort(), note: () => {} });
  const error = await opening.then(() => undefined, toUserError);
  expect(error).toBeInstanceOf(UserError);
  expect(errorMessage(error)).toContain(sentence);
  expect(table.calls()).toEqual([]);
});

const account = "accept-1";

/** A run on the stage. Its waits take no time. */
function start(fields: object = {}): Acceptance {
  const aws = {
    ...{ stage: "fresh", stackName, output: (name: string) => name },
    ...{ sqs: new SQSClient({}), events: new EventBridgeClient({}) },
  };
  return {
    ...{ name: "fresh", url: ApiUrl, signal: new AbortController().signal, aws, load: 2 },
    ...{ startedAt: 0, note: () => {}, cleanUp: new AsyncDisposableStack() },
    accounts: { mine: account, names: [account, "accept-2"] },
    mine: { createLead: () => Promise.reject(new Error("socket hang up")) },
    wait: async (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds),
    ...fields,
  } as unknown as Acceptance;
}

/** A run that Ctrl-C ends when it waits. */
function startEnding(): Acceptance {
  const controller = new AbortController();
  const wait = async () => {
    controller.abort();
    controller.signal.throwIfAborted();
  };
  return start({ signal: controller.signal, wait });
}

test("a run reports what it could not revert", async () => {
  const run = start();
  run.cleanUp.defer(() => Promise.reject(new Error("no network")));
  expect((await accept(run, [])).ended).toBe(
    "Not everything was taken back (no network): erase the accounts accept-1, accept-2, and delete the queue and the rule whose names end with the first one.",
  );
});

test("the documentation has the units of all requests whose cost is compared", () => {
  expect([...readUnits().keys()]).toEqual(expect.arrayContaining(Object.keys(kinds)));
});

describe("the phase events", () => {
  const arn = (service: string, rest: string) => `arn:aws:${service}:eu-central-1:123456789012:${rest}`;
  const name = `leads-accept-fresh-${account}`;
  const [RuleArn, Arn] = [arn("events", `rule/bus/${name}`), arn("sqs", name)];
  const rule = { EventBusName: "EventBusName" };
  beforeEach(() => {
    eventBridge.on(PutRuleCommand).resolves({ RuleArn });
    eventBridge.on(PutTargetsCommand).resolves({ FailedEntryCount: 0 });
    sqs.on(CreateQueueCommand).resolves({ QueueUrl: "https://sqs/queue" });
  });

  /** The inputs of the calls that remove the rule and the queue. */
  const removals = () => [
    ...eventBridge.commandCalls(RemoveTargetsCommand).map(({ args: [{ input }] }) => input),
    ...eventBridge.commandCalls(DeleteRuleCommand).map(({ args: [{ input }] }) => input),
    ...sqs.commandCalls(DeleteQueueCommand).map(({ args: [{ input }] }) => input),
  ];
  const removedRule = [
    { ...rule, Rule: name, Ids: ["queue"] },
    { ...rule, Name: name },
  ];

  test("receives only the events of its own account, in a queue that accepts only its rule", async () => {
    await accept(start(), [events]);
    const [made] = eventBridge.commandCalls(PutRuleCommand);
    expect(JSON.parse(made?.args[0].input.EventPattern ?? "")).toEqual({
      ...{ source: ["leads-and-conversations"], detail: { account: [account] } },
    });
    const [queue] = sqs.commandCalls(CreateQueueCommand);
    const { QueueName, Attributes } = queue?.args[0].input ?? {};
    expect(QueueName).toBe(name);
    expect(JSON.parse(Attributes?.Policy ?? "").Statement).toEqual([
      {
        ...{ Effect: "Allow", Principal: { Service: "events.amazonaws.com" }, Action: "sqs:SendMessage" },
        ...{ Resource: Arn, Condition: { ArnEquals: { "aws:SourceArn": RuleArn } } },
      },
    ]);
    const [target] = eventBridge.commandCalls(PutTargetsCommand);
    expect(target?.args[0].input).toEqual({ ...rule, Rule: name, Targets: [{ Id: "queue", Arn }] });
  });

  const next: Phase = {
    name: "next",
    async *run() {
      yield compared({ check: "A lead", page: "docs/usage.md", expected: "kept" }, "kept");
    },
  };
  const refused = { FailedEntryCount: 1, FailedEntries: [{ ErrorMessage: "no access" }] };
  const refuse = () => eventBridge.on(PutTargetsCommand).resolves(refused);
  const deny = () => sqs.on(CreateQueueCommand).rejects(new Error("denied"));
  const QueueUrl = "https://sqs/queue";
  const failed = "The phase events failed";
  test.each<[string, () => unknown, () => Acceptance, string, object[], string]>([
    ["a request fails", () => {}, start, `${failed}: socket hang up.`, [{ QueueUrl }], "kept"],
    [
      "Ctrl-C",
      () => {},
      startEnding,
      "It was ended before all was checked.",
      [{ QueueUrl }],
      "the run was ended",
    ],
    [
      "EventBridge refuses the queue",
      refuse,
      start,
      `${failed}: EventBridge refused the queue: no access.`,
      [{ QueueUrl }],
      "kept",
    ],
    ["SQS makes no queue", deny, start, `${failed}: denied.`, [], "kept"],
  ])("removes its queue and its rule after %s", async (_, arrange, begin, sentence, queue, seen) => {
    arrange();
    const { ended, findings } = await accept(begin(), [events, next]);
    expect(ended).toBe(sentence);
    expect(removals()).toEqual([...removedRule, ...queue]);
    expect(findings.map((finding) => [finding.phase, finding.verdict, finding.seen])).toEqual([
      ["events", "not seen", expect.any(String)],
      ["next", seen === "kept" ? "as assumed" : "not seen", seen],
    ]);
  });
});

test("the documented policy allows exactly the calls that the code makes", () => {
  const policy = readFileSync(join(import.meta.dirname, "../../docs/deploying/accept-policy.json"), "utf8");
  const { Statement } = JSON.parse(policy) as { Statement: { Action: string[] }[] };
  const allowed = Statement.flatMap(({ Action }) => Action)
    .filter((action) => !action.startsWith("dynamodb:"))
    .map((action) => action.split(":")[1]);
  const code = globSync("{,phases/}*.ts", { cwd: import.meta.dirname, exclude: ["*.test.ts"] })
    .map((file) => readFileSync(join(import.meta.dirname, file), "utf8"))
    .join();
  const called = Array.from(
    code.matchAll(/new (\w+)Command\(|paginate(\w+)\(/g),
    ([, one, pages]) => one ?? pages,
  );
  // IAM has no own action for batches.
  const actions = called.map((name) => (name === "DeleteMessageBatch" ? "DeleteMessage" : name));
  expect([...new Set(actions)].sort()).toEqual(allowed.sort());
});
