import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { StackResourceDrift } from "@aws-sdk/client-cloudformation";
import { ulid } from "ulid";
import { afterAll, afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import { defaults } from "../../lib/config/stage-schema.ts";
import { errorMessage, UserError } from "../../lib/errors.ts";
import { toUserError } from "../../lib/ops/common/aws-errors.ts";
import { releaseKey } from "../../shared/dynamodb/keys.ts";
import { stageTableName } from "../../shared/stages.ts";
import { Account, conversations } from "../contract/account.ts";
import { Client } from "../contract/client.ts";
import { startApi } from "../support/api.ts";
import { synthesizeAssembly } from "../support/assembly.ts";
import { listening } from "../support/listening.ts";
import { remove, tableItems } from "../support/table-items.ts";
import { accept, phases } from "./acceptance.ts";
import { type Control, clean, open, type Target } from "./open.ts";
import { isOfEndedRun } from "./own-accounts.ts";
import { type Acceptance, abortable, poll } from "./phase.ts";
import { requestsOfKind } from "./phases/cost.ts";
import { counting } from "./phases/counting.ts";
import type { Report } from "./report.ts";
import { FakeAws } from "./support/fake-aws.ts";

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
  aws.deliver((await json(request)) as Record<string, unknown>);
  response.end();
});
afterAll(() => void bus.close());
const eventsUrl = await listening(bus);
const api = await startApi({ templateDirectory: outdir, streams: true, eventsUrl, maxEnvironments: 4 });

let aws = new FakeAws(stage, api.url);
/** The clock of the runs, and how far ahead of it they are by the times that were skipped, in milliseconds. */
let clock: () => number;
let ahead: number;
/** Ends the runs of the test. */
let controller: AbortController;
beforeEach(() => {
  aws = new FakeAws(stage, api.url);
  clock = Date.now;
  ahead = 0;
  controller = new AbortController();
});
/** What a failed test leaves must fail no other one: each finds an empty table. */
afterEach(async () => {
  vi.restoreAllMocks();
  controller.abort();
  for (const item of (await tableItems()).values()) if (item.pk !== releaseKey.pk) await remove(item);
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
  readonly load?: number;
  readonly settings?: Partial<NonNullable<Acceptance["settings"]>>;
  /** Called with everything that the run says. */
  readonly onNote?: (text: string, end: () => void) => void;
}

/** How much a run writes: enough for each check of it. */
const littleLoad = 2;

const control = (onNote: NonNullable<Run["onNote"]> = () => {}, load = littleLoad): Control => ({
  signal: controller.signal,
  note: (text) => onNote(text, () => controller.abort()),
  now: () => clock() + ahead,
  wait: skipping(controller.signal),
  eraseWait: (milliseconds) => setTimeout(Math.min(milliseconds, 20)),
  load,
});

/** The stage has no file. */
const onStage = { stage, like: "dev" };

/** Accepts the stage. */
async function run({ only, target = {}, settings = {}, wasThrottled = false, onNote, load }: Run = {}) {
  const acceptance = await open({ ...onStage, ...target }, control(onNote, load));
  aws.requestsOfKind = requestsOfKind(acceptance);
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

const uncounted = phases.map(({ name }) => name).filter((name) => !["contract", "counting"].includes(name));

const ofVerdict = ({ findings }: Report, verdict: Report["findings"][number]["verdict"]) =>
  findings.filter((finding) => finding.verdict === verdict).map(({ check, seen }) => `${check}: ${seen}`);

/**
 * Expects that nothing is left of the run but counts; the release is of the table. Here no time passes while an erasure
 * waits, so a maintainer that is at work may write some after it. Where time passes, in the test on the local run, only those
 * that expire may be left.
 */
async function expectNothingLeft() {
  expect([...aws.temporary]).toEqual([]);
  for (const variables of aws.variables.values())
    expect(variables).toEqual({ TABLE_NAME: stageTableName(stage) });
  const left = [...(await tableItems()).values()].filter(({ pk }) => !/^(?:COUNT|RELEASE)#/.test(String(pk)));
  expect(left).toEqual([]);
}

test("a stage that is as documented differs in nothing, nothing is left, and the policy has each call and no other", async () => {
  // Fewer leads stay in the tail and are not counted.
  const counted = await run({ only: ["counting"], load: 25 });
  const report = await run({ only: uncounted });
  for (const { ended, findings } of [counted, report]) {
    expect(ended).toBeUndefined();
    expect(findings.filter(({ verdict }) => verdict === "differs")).toEqual([]);
  }
  expect(ofVerdict(counted, "not seen")).toEqual([]);
  expect(ofVerdict(report, "not seen")).toEqual([
    "A request to http:// in place of https://: this run has no TLS",
    "More requests at once than the throttle allows: 2500 requests at once would disturb other callers",
    "A preflight request from an origin that is allowed: the stage has no corsOrigins",
    "CORS headers on the gateway's own 403: the stage has no corsOrigins",
    "A function that fails: nothing that callers may send makes the gateway return it",
    "A function that takes too long: nothing that callers may send makes the gateway return it",
  ]);
  for (const { page, restsOnIt } of [...counted.findings, ...report.findings])
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
  aws.variables.set("list-leads", { TABLE_NAME, ACCEPTED_AT: "1" });
  aws.alarms.set(alarm, { StateValue: "ALARM", StateReason: "npm run accept" });
  aws.temporary.add(`${TABLE_NAME}-${alarm}`);
}

/** Cleans when the runs must be over. */
function cleanLater() {
  ahead = 3 * 3_600_000;
  return clean(onStage, control());
}

test("--clean takes away each part, also if another one fails, and leaves a run that may be under way", async () => {
  await leaveAll();
  aws.alarms.set("slow-answers", { StateValue: "ALARM", StateReason: "Threshold Crossed" });
  expect(await clean(onStage, control())).toBe(0);
  const left = [...aws.temporary];
  expect(left).toEqual([expect.stringMatching(/^queue /), expect.stringMatching(/^rule /)]);
  aws.failsRules = true;
  await expect(cleanLater()).rejects.toThrow("not authorized to perform: events:ListRules");
  expect([...aws.temporary]).toEqual(left);
  expect([...aws.states]).toEqual([[`${TABLE_NAME}-${alarm}`, "OK"]]);
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

/** The policy in docs/deploying.md. */
function readPolicy() {
  const page = readFileSync(join(import.meta.dirname, "../../docs/deploying.md"), "utf8");
  const [, policy = ""] = /### What it may do.*?```json\n(.*?)```/s.exec(page) ?? [];
  return (JSON.parse(policy) as { Statement: { Action: string[]; Resource: string | string[] }[] }).Statement;
}

test("the policy names resources for each action that can have one, and matches the names that CloudFormation cuts", () => {
  const general = readPolicy().filter(({ Resource }) => Resource === "*");
  expect(general.flatMap(({ Action }) => Action).sort()).toEqual([
    "cloudformation:DescribeStackDriftDetectionStatus",
    "cloudformation:DetectStackResourceDrift",
    "cloudwatch:DescribeAlarms",
    "cloudwatch:GetMetricData",
    "events:ListRules",
    "sqs:ListQueues",
  ]);
  const functions = readPolicy().find(({ Action }) => Action.includes("lambda:GetFunction"));
  expect("arn:aws:lambda:*:*:function:leads-and-conversations-d-listleads1A2B3C4D-a1b2c3d4e5f6").toContain(
    String(functions?.Resource).replace(/\*$/, ""),
  );
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

const drift = (
  LogicalResourceId: string,
  PropertyPath: string,
  ExpectedValue: string,
  ActualValue: string,
): StackResourceDrift => ({
  ...{ StackId: "1", ResourceType: "AWS", Timestamp: new Date(), StackResourceDriftStatus: "MODIFIED" },
  LogicalResourceId,
  PropertyDifferences: [{ PropertyPath, ExpectedValue, ActualValue, DifferenceType: "NOT_EQUAL" }],
});

/** Responds to a revoked key, by the seconds since it was revoked. */
function respondToRevoked(statusAfter: (seconds: number) => number) {
  // Only waits take time, however busy the machine is. `Date.now` goes on: erasing compares it with the table's clock.
  const start = Date.now();
  clock = () => start;
  let requests = 0;
  const { sendOnce } = Client.prototype;
  vi.spyOn(Client.prototype, "sendOnce").mockImplementation(function (this: Client, sending) {
    // After the two requests of the opening, and that with the key before it is revoked.
    if (++requests < 4) return sendOnce.call(this, sending);
    return Promise.resolve(responding(sending.path, statusAfter(requests - 4)));
  });
}

function responding(request: string, status: number) {
  return { request, status, headers: {}, bytes: Buffer.of(), body: {} };
}

/** What the report of a phase, run alone, has that differs and that could not be seen. */
const differing = async (phase: string, settings?: Run["settings"]) => {
  const report = await run({ only: [phase], ...(settings && { settings }) });
  return { differs: ofVerdict(report, "differs"), notSeen: ofVerdict(report, "not seen") };
};

test("drift of the stage is found, but for what drift detection only calls modified", async () => {
  const [burst, ttl] = ["/DefaultRouteSettings/ThrottlingBurstLimit", "/AuthorizerResultTtlInSeconds"];
  aws.drifts.push(
    drift("ApiStage", burst, "200", "20"),
    drift("Authorizer", ttl, "60", "3600"),
    drift("Table", "/GlobalSecondaryIndexes/3", "by-parent", "null"),
    { ...drift("Failures", "", "", ""), PropertyDifferences: [], StackResourceDriftStatus: "DELETED" },
    {
      ...drift("Domain", "/DomainNameConfigurations/0", "1", "2"),
      ResourceType: "AWS::ApiGatewayV2::DomainName",
    },
  );
  expect(await differing("deployed")).toEqual({
    differs: [
      `The resources of the stack: ApiStage ${burst}: 20`,
      `The resources of the stack: Authorizer ${ttl}: 3600`,
      "The resources of the stack: Table /GlobalSecondaryIndexes/3: null",
      "The resources of the stack: Failures: deleted",
    ],
    notSeen: [
      expect.stringMatching(
        /^The resources of the stack: Domain \/DomainNameConfigurations\/0: 2, which drift/,
      ),
    ],
  });
});

test.each([
  [
    "by a cache",
    (seconds: number) => (seconds < 8 ? 200 : 403),
    /^A revoked key: works for [78] s, then 403$/,
  ],
  ["by one of two nodes", (n: number) => (n % 2 ? 403 : 200), /^A revoked key: works for 1\d s, then/],
])("a revoked key that is still taken %s is found", async (_, statusAfter, seen) => {
  respondToRevoked(statusAfter);
  expect((await differing("keys")).differs).toContainEqual(expect.stringMatching(seen));
});

test("requests that fail or cost twice as much, and a late stream are found; the cost of slow requests is not seen", async () => {
  const { get, post } = Account.prototype;
  vi.spyOn(Account.prototype, "get").mockImplementation(function (this: Account, path) {
    return path === conversations ? Promise.resolve(responding(path, 500)) : get.call(this, path);
  });
  vi.spyOn(Account.prototype, "post").mockImplementation(function (this: Account, ...args) {
    if (args[2] && Object(args[1]).channel === "c0") ahead += 50_000 / littleLoad;
    return post.apply(this, args);
  });
  aws.unitFactor = 2;
  aws.streamAge = 40;
  const { differs, notSeen } = await differing("cost");
  expect(differs).toEqual(
    expect.arrayContaining([
      "The age of the stream: 40.0 s",
      "First page of conversations: requests returned 500",
      expect.stringMatching(/^A message that joins a conversation: 16\.24 W and 4\.00 R, /),
    ]),
  );
  expect(notSeen).toEqual([
    expect.stringMatching(
      /^A message that joins a conversation, with `Idempotency-Key`: the requests took 5\d s, too much of their minute$/,
    ),
  ]);
});

test("requests that cost nothing are found", async () => {
  aws.unitFactor = 0;
  const { differs } = await differing("cost");
  expect(differs).toContainEqual(
    expect.stringMatching(/^A lead with an email address and a source: 0\.00 W/),
  );
});

test("no costs are seen without the units of CloudWatch, or beside a canary", async () => {
  aws.hasUnits = false;
  const { notSeen } = await differing("cost");
  expect(notSeen).toContain("First page of leads: CloudWatch has no units of the table in that minute");
  const besideCanary = await differing("cost", { canary: true });
  expect(besideCanary.notSeen).toContain(
    "A message that joins a conversation: the canary uses the table every five minutes",
  );
});

test("slow starts, calls and responses, and too little memory are found; too few responses, and an unused throttle, are not seen", async () => {
  const slow = { durationMs: 80, memorySizeMB: 256 };
  aws.reports = aws.reports.map((report) => ({
    ...{ ...report, ...slow },
    ...(report.initDurationMs && { initDurationMs: 900 }),
  }));
  aws.slowStart = "send-message";
  aws.latency = 2500;
  aws.conversationLists = 1;
  aws.isThrottled = false;
  const { differs, notSeen } = await differing("times", { throttleBurst: 200 });
  expect(differs).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^The start of an environment of create-lead: 900 ms \(median of 20\)/),
      "The start of send-message, compared with that of list-leads: 2.00 times",
      expect.stringMatching(/^A call of a warm list-leads: 80\.0 ms, p99 80\.0 ms/),
      "The memory of send-message: 130 of 256 MB",
      expect.stringMatching(/^The latency of GET \/api\/v1\/leads: 2500 ms/),
    ]),
  );
  expect(notSeen).toEqual([
    "The latency of GET /api/v1/conversations: 2500 ms, p99 2500 ms (of 1)",
    expect.stringMatching(/: the throttle refused no request of the phase gateway$/),
  ]);
});

test("a few slow responses are found, and a log without the requests that the throttle refused", async () => {
  aws.slowest = 1200;
  aws.isThrottled = false;
  const report = await run({ only: ["times"], wasThrottled: true });
  expect(ofVerdict(report, "differs")).toEqual([
    "The latency of GET /api/v1/leads: 20 ms, p99 1200 ms (of 100)",
    "The access log has requests that the throttle refused: no",
  ]);
});

test("no starts are seen of functions whose requests go to versions", async () => {
  const { notSeen } = await differing("times", { deployment: "canary" });
  expect(notSeen).toContainEqual(
    expect.stringMatching(/^The start of an environment of authorize: requests go to versions/),
  );
});

test("events that are lost, late, in another envelope or repeated with other ids are found", async () => {
  aws.eventDelay = 9000;
  let events = 0;
  aws.changeEvent = ({ region: _, ...event }) => {
    events++;
    const detail = event.detail as { id: string; repeated?: boolean };
    if (detail.repeated) return { ...event, detail: { ...detail, id: `other-${detail.id}` } };
    return event["detail-type"] === "message.sent" ? undefined : event;
  };
  // When all have come, those of the writes or also the repeated ones, the rest of the minute is skipped.
  aws.waitForMessages = async () => {
    if (events === 61 || events === 102) ahead += 60_000;
    else await setTimeout(100);
  };
  expect((await differing("events")).differs).toEqual([
    expect.stringMatching(/^The events of 61 writes: 20 are missing, such as msg_/),
    "The time from a write to its event: 9000 ms (median), 9000 ms at most",
    expect.stringMatching(/^The envelope and the fields of events: the envelope of .+: region$/),
    "events republish: 0 of 41 ids",
  ]);
});

test("alarms that are missing, have no action, or send only their end are found", async () => {
  aws.alarms.delete("server-errors");
  aws.alarms.set("slow-answers", { AlarmActions: [] });
  aws.actionResult = undefined;
  expect((await differing("alarms")).differs).toEqual([
    `The alarms of the stage: missing: ${TABLE_NAME}-server-errors`,
    `The action of the alarm ${TABLE_NAME}-slow-answers: it has none`,
    `The action of the alarm ${TABLE_NAME}-stream-age: ops was not called`,
  ]);
});

test("alarms that are switched off or refused by their topic are found, and one that is raised is not seen", async () => {
  aws.alarms.set("slow-answers", { StateValue: "ALARM" });
  aws.alarms.set("stream-age", { ActionsEnabled: false });
  aws.actionResult = "Failed to execute action arn:aws:sns:eu-central-1:1:ops: AuthorizationError";
  expect(await differing("alarms")).toEqual({
    differs: [
      `The action of the alarm ${TABLE_NAME}-server-errors: ${aws.actionResult}`,
      `The action of the alarm ${TABLE_NAME}-stream-age: its actions are disabled`,
    ],
    notSeen: [`The action of the alarm ${TABLE_NAME}-slow-answers: the alarm is raised already`],
  });
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

test("a phase that AWS refuses is named, and the others are made", async () => {
  vi.spyOn(aws, "drifts", "get").mockImplementation(() => {
    throw Object.assign(new Error("User is not authorized"), { name: "AccessDeniedException" });
  });
  const report = await run({ only: ["deployed", "alarms"] });
  expect(report.ended).toBe("The phase deployed failed: User is not authorized");
  expect(report.findings.filter(({ phase }) => phase === "alarms").length).toBe(4);
});

test("alarms of another stage, whose name begins like this one's, are not touched", async () => {
  aws.alarms.set("2-server-errors", {});
  await run({ only: ["alarms"] });
  expect([...aws.states.keys()]).not.toContain(`${TABLE_NAME}-2-server-errors`);
});

test("a function that cannot be changed ends the phase, and the variables of the others are put back", async () => {
  let isFirst = true;
  aws.onUpdate = async (name) => {
    if (name === "authorize" && isFirst) {
      isFirst = false;
      throw new Error("no capacity");
    }
    for (let n = 0; n < 100; n++) await setImmediate();
  };
  const report = await run({ only: ["times"] });
  expect(report.ended).toBe("The phase times failed: no capacity");
  await expectNothingLeft();
});

test("a function whose variables are not shown is not changed", async () => {
  aws.showsVariables = false;
  const report = await run({ only: ["times"] });
  expect(report.ended).toContain("Lambda does not show the variables of authorize");
  expect(aws.variables.size).toBe(0);
});

test("a rule that cannot send to the queue ends the phase", async () => {
  aws.failedTargets = 1;
  const report = await run({ only: ["events"] });
  expect(report.ended).toBe("The phase events failed: EventBridge refused the queue: no access");
  await expectNothingLeft();
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

test("the time to poll includes that of the requests", async () => {
  let now = 0;
  const look = vi.fn(async () => {
    now += 40;
  });
  await poll({ wait: async () => {}, now: () => now }, { every: 10, atMost: 100 }, look);
  expect(look).toHaveBeenCalledTimes(3);
});

test("a total that fails ends the creation of leads", async () => {
  let waiting = 0;
  const wait = async () => {
    waiting++;
    await setImmediate();
    waiting--;
  };
  const count = vi
    .fn()
    .mockResolvedValueOnce(0)
    .mockResolvedValueOnce(0)
    .mockRejectedValue(new Error("broken"));
  const mine = { count, createLead: wait };
  const stub = { mine, load: 100_000, wait, note: () => {}, signal: new AbortController().signal };
  const running = counting.run(stub as unknown as Acceptance)[Symbol.asyncIterator]();
  await expect(running.next()).rejects.toThrow("broken");
  expect(waiting).toBe(0);
});

test("a stage that keeps its data needs --yes, and its functions are not changed", async () => {
  aws.isProtected = true;
  await expect(run({ only: [] })).rejects.toThrow(/keeps its data.* --yes/);
  const report = await run({ only: ["times"], target: { yes: true } });
  expect(aws.variables.size).toBe(0);
  expect(ofVerdict(report, "not seen").join()).toContain(
    "no function of a stage that keeps its data is changed",
  );
});

const refused = (name: string, message: string) => () => {
  throw Object.assign(new Error(message), {
    name,
    ...(message.includes("ENOTFOUND") && { code: "ENOTFOUND" }),
  });
};

test.each([
  [
    "credentials that AWS does not know",
    refused("UnrecognizedClientException", "The security token is invalid"),
    "AWS rejected the credentials: The security token is invalid",
  ],
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
  vi.spyOn(aws, "url", "get").mockImplementation(url);
  const before = await tableItems();
  const error = await run({ only: [] }).then(() => undefined, toUserError);
  expect(error).toBeInstanceOf(UserError);
  expect(errorMessage(error)).toContain(sentence);
  expect(await tableItems()).toEqual(before);
});
