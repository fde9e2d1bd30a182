import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { ulid } from "ulid";
import { afterAll, afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import { defaults } from "../../lib/config/stage-schema.ts";
import { toUserError } from "../../lib/ops/output/aws-errors.ts";
import { errorMessage, UserError } from "../../lib/user-error.ts";
import { stageTableName } from "../../shared/stages.ts";
import { Client } from "../contract/client.ts";
import { startApi } from "../support/api.ts";
import { synthesizeAssembly } from "../support/assembly.ts";
import { listening } from "../support/listening.ts";
import { skipWaits } from "../support/skipped-waits.ts";
import { remove, tableItems } from "../support/table-items.ts";
import { accept, phases } from "./acceptance.ts";
import { type Control, clean, open, type Target } from "./open.ts";
import { isOfEndedRun } from "./own-accounts.ts";
import { type Acceptance, abortable } from "./phase.ts";
import { requestsOfKind } from "./phases/cost.ts";
import type { Report } from "./report.ts";
import { FakeAws } from "./support/fake-aws.ts";
import type { Event } from "./support/fake-events.ts";
import { alarmNames } from "./support/fake-stack.ts";

const stage = `t${randomBytes(6).toString("hex")}`;
const authorizerCacheSeconds = 0;
const outdir = await mkdtemp(join(tmpdir(), "acceptance-"));
afterAll(() => rm(outdir, { recursive: true }));
await synthesizeAssembly({
  outdir,
  tableName: stageTableName(stage),
  settings: { authorizerCacheSeconds },
  bundles: join(inject("engine").assembly, "bundles"),
});
const bus = createServer(async (request, response) => {
  aws.events.deliver((await json(request)) as Event);
  response.end();
});
afterAll(() => void bus.close());
const eventsUrl = await listening(bus);
const api = await startApi({ templateDirectory: outdir, streams: true, eventsUrl, maxEnvironments: 4 });

let aws: FakeAws;
/** The clock of the runs, and how far ahead of it they are by the times that were skipped, in milliseconds. */
let clock: () => number;
let ahead: number;
/** Ends the runs of the test. */
let controller: AbortController;
beforeEach(() => {
  // What an erasure waits for.
  skipWaits((milliseconds) => setTimeout(Math.min(milliseconds, 20)));
  clock = Date.now;
  ahead = 0;
  aws = new FakeAws(stage, api.url, () => clock() + ahead);
  controller = new AbortController();
});
/** What a failed test leaves must fail no other one: each finds an empty table. */
afterEach(async () => {
  vi.restoreAllMocks();
  controller.abort();
  for (const item of (await tableItems()).values()) await remove(item);
});

/** Short times pass, long ones are skipped. */
const skipping = (signal: AbortSignal) => async (milliseconds: number) => {
  signal.throwIfAborted();
  if (milliseconds > 500) ahead += milliseconds;
  else await abortable(signal)(milliseconds);
};

interface Run {
  readonly only?: readonly string[];
  readonly target?: Target;
  readonly wasThrottled?: boolean;
  readonly settings?: Partial<NonNullable<Acceptance["settings"]>>;
  /** Called with everything that the run says. */
  readonly onNote?: (text: string, end: () => void) => void;
}

const control = (onNote: NonNullable<Run["onNote"]> = () => {}): Control => ({
  signal: controller.signal,
  note: (text) => onNote(text, () => controller.abort()),
  now: aws.now,
  wait: skipping(controller.signal),
  // Enough for each check.
  load: 2,
});

/** The stage has no file. */
const onStage = { stage, like: "dev" };

/** Accepts the stage. */
async function run({ only, target = {}, settings = {}, wasThrottled = false, onNote }: Run = {}) {
  const acceptance = await open({ ...onStage, ...target }, control(onNote));
  aws.monitoring.requestsOfKind = requestsOfKind(acceptance);
  const selected = phases.filter(({ name }) => only?.includes(name) ?? true);
  return accept(
    {
      ...acceptance,
      wasThrottled,
      settings: {
        ...defaults,
        throttleBurst: 2500,
        authorizerCacheSeconds,
        alarmsTo: "ops@example.com",
        ...settings,
      },
    },
    selected,
  );
}

/** Without what the local run accepts, too. */
const uncounted = phases.map(({ name }) => name).filter((name) => !["contract", "counting"].includes(name));

const ofVerdict = ({ findings }: Report, verdict: Report["findings"][number]["verdict"]) =>
  findings.filter((finding) => finding.verdict === verdict).map(({ check, seen }) => `${check}: ${seen}`);

/**
 * Expects that nothing is left of the run but counts. Here no time passes while an erasure
 * waits, so a maintainer that is at work may write some after it. Where time passes, in the test on the local run, only those
 * that expire may be left.
 */
async function expectNothingLeft() {
  expect([...aws.temporary]).toEqual([]);
  const left = [...(await tableItems()).values()].filter(({ pk }) => !String(pk).startsWith("COUNT#"));
  expect(left).toEqual([]);
}

test("a stage that is as documented differs in nothing, nothing is left, and the policy has each call and no other", async () => {
  const report = await run({ only: uncounted });
  expect(report.ended).toBeUndefined();
  expect(ofVerdict(report, "differs")).toEqual([]);
  expect(ofVerdict(report, "not seen")).toEqual([
    "A request to http:// in place of https://: this run has no TLS",
    "More requests at once than the throttle allows: 2500 requests at once would disturb other callers",
  ]);
  for (const { page, restsOnIt } of report.findings)
    expect([page, restsOnIt.length > 0]).toEqual([page, true]);
  await expectNothingLeft();
  await leaveAll();
  expect(await cleanLater()).toBe(2);
  await expectNothingLeft();
  expect([...aws.calls].sort()).toEqual(documentedCalls());
});

const alarm = "server-errors";
const TABLE_NAME = stageTableName(stage);

/** Leaves what killed runs leave. */
async function leaveAll() {
  const { accounts, cleanUp } = await open(onStage, control());
  cleanUp.move();
  const name = `leads-accept-${stage}-${accounts?.mine.slice("accept-".length)}`;
  for (const kind of ["queue", "rule"]) aws.temporary.add(`${kind} ${name}`);
  aws.monitoring.alarms.set(alarm, { StateValue: "ALARM", StateReason: "npm run accept" });
  aws.temporary.add(`${TABLE_NAME}-${alarm}`);
}

/** Cleans when the runs must be over. */
function cleanLater() {
  ahead = 3 * 3_600_000;
  return clean(onStage, control());
}

test("--clean takes away each part, also if another one fails, and leaves a run that may be under way", async () => {
  await leaveAll();
  aws.monitoring.alarms.set("slow-answers", { StateValue: "ALARM", StateReason: "Threshold Crossed" });
  expect(await clean(onStage, control())).toBe(0);
  const left = [...aws.temporary];
  expect(left).toEqual([expect.stringMatching(/^queue /), expect.stringMatching(/^rule /)]);
  aws.events.failsRules = true;
  await expect(cleanLater()).rejects.toThrow("not authorized to perform: events:ListRules");
  expect([...aws.temporary]).toEqual(left);
  expect([...aws.monitoring.states]).toEqual([[`${TABLE_NAME}-${alarm}`, "OK"]]);
  aws.temporary.clear();
  await expectNothingLeft();
});

test.each([
  ["accept-corp", false],
  ["accept-01kazzzzzzzzzzzzzzzzzzzzzz-1", true],
  ["accept-01kazzzzzzzzzzzzzzzzzzzzzz-4", false],
  ["accept-01kazzzzzzzzzzzzzzzzzzzzzz-1-2", false],
  ["accept-2-01kazzzzzzzzzzzzzzzzzzzzzz-1", false],
  [`accept-${ulid(Date.now() - 3_600_000).toLowerCase()}-1`, false],
])("whether %s is of a run that is over: %s", (name, isOver) => {
  expect(isOfEndedRun(name, "accept-", Date.now())).toBe(isOver);
});

/** The policy of whoever runs the command. */
function readPolicy() {
  const policy = readFileSync(join(import.meta.dirname, "../../docs/deploying/accept-policy.json"), "utf8");
  return (JSON.parse(policy) as { Statement: { Action: string[]; Resource: string | string[] }[] }).Statement;
}

test("the policy names resources for each action that can have one", () => {
  const general = readPolicy().filter(({ Resource }) => Resource === "*");
  expect(general.flatMap(({ Action }) => Action).sort()).toEqual([
    "cloudformation:DescribeStackDriftDetectionStatus",
    "cloudformation:DetectStackResourceDrift",
    "cloudwatch:DescribeAlarms",
    "cloudwatch:GetMetricData",
    "events:ListRules",
    "sqs:ListQueues",
  ]);
});

/** The calls that the policy allows, without those on the table. */
function documentedCalls(): string[] {
  const actions = readPolicy()
    .flatMap(({ Action }) => Action)
    .filter((action) => !action.startsWith("dynamodb:"));
  // One that drift detection makes itself, and one that IAM names otherwise.
  return actions
    .map((action) => action.split(":")[1] ?? "")
    .filter((action) => action !== "DetectStackResourceDrift")
    .map((action) => (action === "DeleteMessage" ? "DeleteMessageBatch" : action))
    .sort();
}

/** Responds to a revoked key, by the seconds since it was revoked. @returns what hears that it was */
function respondToRevoked(statusAfter: (seconds: number) => number): NonNullable<Run["onNote"]> {
  // Only waits take time, however busy the machine is. `Date.now` goes on: erasing compares it with the table's clock.
  const start = Date.now();
  clock = () => start;
  let seconds: number | undefined;
  const { sendOnce } = Client.prototype;
  vi.spyOn(Client.prototype, "sendOnce").mockImplementation(function (this: Client, sending) {
    if (seconds === undefined) return sendOnce.call(this, sending);
    const status = statusAfter(seconds++);
    return Promise.resolve({ request: sending.path, status, headers: {}, bytes: Buffer.of(), body: {} });
  });
  return (text) => {
    if (text.startsWith("waiting until a revoked key")) seconds = 0;
  };
}

test.each([
  [
    "by a cache",
    (seconds: number) => (seconds < 8 ? 200 : 403),
    /^A revoked key: works for [78] s, then 403$/,
  ],
  ["by one of two nodes", (n: number) => (n % 2 ? 403 : 200), /^A revoked key: works for 1\d s, then/],
])("a revoked key that is still taken %s is found", async (_, statusAfter, seen) => {
  const onNote = respondToRevoked(statusAfter);
  const report = await run({ only: ["keys"], onNote });
  expect(ofVerdict(report, "differs")).toContainEqual(expect.stringMatching(seen));
});

test("each difference is found in a run, and no other", async () => {
  const { monitoring, stack, events } = aws;
  const joins = "A message that joins a conversation";
  const ttl = "/AuthorizerResultTtlInSeconds";
  const drift = { StackId: "1", ResourceType: "AWS", Timestamp: new Date() };
  const property = { PropertyPath: ttl, ExpectedValue: "60", ActualValue: "3600" };
  stack.drifts = [
    {
      ...{ ...drift, LogicalResourceId: "Authorizer", StackResourceDriftStatus: "MODIFIED" },
      PropertyDifferences: [{ ...property, DifferenceType: "NOT_EQUAL" }],
    },
    { ...drift, LogicalResourceId: "Failures", StackResourceDriftStatus: "DELETED" },
  ];
  monitoring.streamAge = 40;
  monitoring.unitFactors.set(joins, 2).set("A retry of that lead", undefined);
  monitoring.unitFactors.set("A lead with an email address and a source", 0);
  monitoring.calls.set("create-lead", { init: 900 }).set("list-conversations", { slowest: 1200 });
  monitoring.isThrottled = false;
  events.eventDelay = 9000;
  // The pipe may deliver an event twice, and one of the phase before late.
  const received = new Set<string>();
  let begin = "";
  events.changeEvent = ({ region: _, ...event }) => {
    if (event.detail.createdAt >= begin) received.add(event.detail.id);
    return event["detail-type"] === "message.sent" ? undefined : event;
  };
  // When all have come, the rest of the minute is skipped.
  events.waitForMessages = async () => {
    if (received.size >= 61) ahead += 60_000;
    else await setTimeout(100);
  };
  monitoring.alarms.delete("server-errors");
  monitoring.alarms.set("slow-answers", { AlarmActions: [] });
  monitoring.actionResults.set(`${TABLE_NAME}-error-budget`, undefined);
  const refusal = "Failed to execute action arn:aws:sns:eu-central-1:1:ops: AuthorizationError";
  monitoring.actionResults.set(`${TABLE_NAME}-function-throttles`, refusal);

  const only = ["deployed", "cost", "times", "events", "alarms"];
  const onNote = (text: string) => {
    if (text === "making a queue and a rule") begin = new Date().toISOString();
  };
  const report = await run({ only, wasThrottled: true, onNote });
  expect(report.ended).toBeUndefined();
  expect(ofVerdict(report, "differs")).toEqual([
    `The resources of the stack: Authorizer ${ttl}: 3600`,
    "The resources of the stack: Failures: deleted",
    "The age of the stream: 40.0 s",
    expect.stringMatching(/^A lead with an email address and a source: 0\.00 W/),
    expect.stringMatching(/^A message that joins a conversation: 12\.24 W and 4\.00 R, /),
    "The start of an environment of create-lead: 900 ms (median of 20)",
    "A call of a warm list-conversations: 8.0 ms, p99 1200.0 ms (of 100)",
    "The access log has requests that the throttle refused: no",
    expect.stringMatching(/^The events of 61 writes: 20 are missing, such as msg_/),
    "The time from a write to its event: 9000 ms (median), 9000 ms at most",
    expect.stringMatching(
      /^The envelope and the fields of events: the envelope of .+: account,.+,id,resources,/,
    ),
    `The alarms of the stage: missing: ${TABLE_NAME}-server-errors`,
    `The action of the alarm ${TABLE_NAME}-slow-answers: it has none`,
    `The action of the alarm ${TABLE_NAME}-error-budget: ops was not called`,
    `The action of the alarm ${TABLE_NAME}-function-throttles: ${refusal}`,
  ]);
  expect(ofVerdict(report, "not seen")).toEqual([
    "A retry of that lead: CloudWatch has no units of the table in that minute",
  ]);
});

test("what cannot be measured is not seen: units beside a canary, an alarm that is raised", async () => {
  aws.monitoring.alarms.set("slow-answers", { StateValue: "ALARM" });
  aws.monitoring.isThrottled = false;
  const report = await run({
    only: ["cost", "times", "alarms"],
    settings: { canary: true },
  });
  expect(ofVerdict(report, "differs")).toEqual([]);
  const notSeen = ofVerdict(report, "not seen").join("\n");
  for (const text of [
    "A message that joins a conversation: the canary uses the table every five minutes",
    "The access log has requests that the throttle refused: the throttle refused no request of the phase gateway",
    `The action of the alarm ${TABLE_NAME}-slow-answers: the alarm is raised already`,
  ])
    expect(notSeen).toContain(text);
});

test.each(
  phases.map(({ name }) => name),
)("Ctrl-C in the phase %s ends the run, and nothing is left of it", async (phase) => {
  let isIn = false;
  const report = await run({
    only: [phase, "alarms"],
    onNote: (text, end) => {
      if (isIn) end();
      isIn ||= text.startsWith(`${phase}, phase `);
    },
  });
  expect(report.ended).toBe("It was ended before all was checked.");
  expect(ofVerdict(report, "not seen").some((text) => text.endsWith(": the run was ended"))).toBe(true);
  await expectNothingLeft();
});

test("each phase that fails is named, the others are made, and nothing is left", async () => {
  vi.spyOn(aws.stack, "drifts", "get").mockImplementation(() => {
    throw Object.assign(new Error("User is not authorized"), { name: "AccessDeniedException" });
  });
  aws.events.failedTargets = 1;
  const report = await run({ only: ["deployed", "events", "alarms"] });
  expect(report.ended).toBe(
    [
      "The phase deployed failed: User is not authorized.",
      "The phase events failed: EventBridge refused the queue: no access.",
    ].join(" "),
  );
  expect(report.findings.filter(({ phase }) => phase === "alarms").length).toBe(1 + alarmNames.length);
  await expectNothingLeft();
});

test("alarms of another stage, whose name begins like this one's, are not touched", async () => {
  aws.monitoring.alarms.set("2-server-errors", {});
  await run({ only: ["alarms"] });
  expect([...aws.monitoring.states.keys()]).not.toContain(`${TABLE_NAME}-2-server-errors`);
});

test("what could not be taken back is left to --clean, with the options of the run", async () => {
  const acceptance = await open({ ...onStage, yes: true }, control());
  acceptance.cleanUp.defer(() => Promise.reject(new Error("no network")));
  const { ended } = await accept(acceptance, []);
  expect(ended).toBe(
    `Not everything was taken back (no network): run \`npm run accept -- --stage ${stage} --like dev --yes --clean\` in two hours.`,
  );
});

test("a stage without a file needs --like, before anything is asked of AWS", async () => {
  for (const start of [open, clean])
    await expect(start({ stage }, control())).rejects.toThrow(/^There is no .* --like/);
  expect([...aws.calls]).toEqual([]);
});

test("a stage that keeps its data needs --yes", async () => {
  aws.stack.isProtected = true;
  await expect(run({ only: [] })).rejects.toThrow(/keeps its data.* --yes/);
  expect((await run({ only: [], target: { yes: true } })).ended).toBeUndefined();
});

const refused = (name: string, message: string) => () => {
  throw Object.assign(new Error(message), {
    name,
    ...(message.includes("ENOTFOUND") && { code: "ENOTFOUND" }),
  });
};

test.each([
  [
    "a stage that is not deployed",
    refused("ValidationError", `Stack with id ${stageTableName(stage)} does not exist`),
    `There is no stack ${stageTableName(stage)} with these credentials in this region`,
  ],
  ["a stack without an API", () => "", "has no output ApiUrl: its state is"],
  ["a stage that is down", () => "http://127.0.0.1:1", "The API at http://127.0.0.1:1 does not respond"],
  [
    "a network without AWS",
    refused("Error", "getaddrinfo ENOTFOUND cloudformation"),
    "CloudFormation cannot be reached (getaddrinfo ENOTFOUND cloudformation): check the network and the region.",
  ],
])("%s end the run before anything is written", async (_, url, sentence) => {
  vi.spyOn(aws.stack, "url", "get").mockImplementation(url);
  const before = await tableItems();
  const error = await run({ only: [] }).then(() => undefined, toUserError);
  expect(error).toBeInstanceOf(UserError);
  expect(errorMessage(error)).toContain(sentence);
  expect(await tableItems()).toEqual(before);
});
