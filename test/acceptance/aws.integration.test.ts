import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import type { StackResourceDrift } from "@aws-sdk/client-cloudformation";
import { afterAll, afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import { defaults } from "../../lib/config/stage-schema.ts";
import { errorMessage, UserError } from "../../lib/errors.ts";
import { toUserError } from "../../lib/ops/common/aws-errors.ts";
import { stageTableName } from "../../shared/stages.ts";
import { startApi } from "../support/api.ts";
import { synthesizeAssembly } from "../support/assembly.ts";
import { listening } from "../support/listening.ts";
import { tableItems } from "../support/table-items.ts";
import { accept, phases } from "./acceptance.ts";
import { type Control, clean, open, type Target } from "./open.ts";
import { type Acceptance, abortable } from "./phase.ts";
import type { Report } from "./report.ts";
import { FakeAws } from "./support/fake-aws.ts";

const stage = `t${randomBytes(6).toString("hex")}`;
const authorizerCacheSeconds = 8;
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
const api = await startApi({ templateDirectory: outdir, streams: true, eventsUrl });

let aws = new FakeAws(stage, api.url);
let time: number;
beforeEach(() => {
  aws = new FakeAws(stage, api.url);
  time = Date.now();
});
afterEach(() => vi.restoreAllMocks());

/** Short times pass, long ones are skipped. */
const skipping = (signal: AbortSignal) => async (milliseconds: number) => {
  signal.throwIfAborted();
  if (milliseconds > 500) time += milliseconds;
  else await abortable(signal)(milliseconds);
};

interface Run {
  readonly only?: readonly string[];
  readonly target?: Target;
  readonly settings?: Partial<NonNullable<Acceptance["settings"]>>;
  /** Called with everything that the run says. */
  readonly onNote?: (text: string, end: () => void) => void;
}

const controlBy = (controller: AbortController, onNote: NonNullable<Run["onNote"]> = () => {}): Control => ({
  signal: controller.signal,
  note: (text) => onNote(text, () => controller.abort()),
  now: () => Math.max(time, Date.now()),
  wait: skipping(controller.signal),
  eraseWait: (milliseconds) => setTimeout(Math.min(milliseconds, 100)),
  load: 40,
});

/** Accepts the stage. */
async function run({ only, target = {}, settings = {}, onNote }: Run = {}): Promise<Report> {
  const acceptance = await open({ stage, ...target }, controlBy(new AbortController(), onNote));
  const selected = phases.filter(({ name }) => only?.includes(name) ?? true);
  return accept(
    {
      ...acceptance,
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

const withoutContract = phases.map(({ name }) => name).filter((name) => name !== "contract");

const ofVerdict = ({ findings }: Report, verdict: Report["findings"][number]["verdict"]) =>
  findings.filter((finding) => finding.verdict === verdict).map(({ check, seen }) => `${check}: ${seen}`);

/** Expects that nothing is left of the run: an erased account keeps two empty counts, which expire. */
async function expectNothingLeft() {
  expect([...aws.temporary]).toEqual([]);
  for (const variables of aws.variables.values())
    expect(variables).toEqual({ TABLE_NAME: stageTableName(stage) });
  const left = [...(await tableItems()).values()].filter(({ sk, expiresAt }) => sk !== "root" || !expiresAt);
  expect(left).toEqual([]);
}

test("a stage that is as documented differs in nothing, nothing is left, and the policy has each call and no other", async () => {
  const report = await run({ only: withoutContract });
  expect(report.ended).toBeUndefined();
  expect(ofVerdict(report, "differs")).toEqual([]);
  expect(ofVerdict(report, "not seen")).toEqual([
    "A request to http:// in place of https://: this run has no TLS",
    "More requests at once than the throttle allows: 2500 requests at once would disturb other callers",
    "A preflight request from an origin that is allowed: the stage has no corsOrigins",
    "CORS headers on the gateway's own 403: the stage has no corsOrigins",
    "A function that fails: nothing that callers may send makes the gateway return it",
    "A function that takes too long: nothing that callers may send makes the gateway return it",
  ]);
  for (const { page, restsOnIt } of report.findings)
    expect([page, restsOnIt.length > 0]).toEqual([page, true]);
  await expectNothingLeft();
  await expectClean();
  expect([...aws.calls].sort()).toEqual(documentedCalls());
}, 120_000);

/** Leaves what killed runs leave, and expects --clean to take it away. */
async function expectClean() {
  const { cleanUp } = await open({ stage }, controlBy(new AbortController()));
  cleanUp.move();
  for (const name of ["queue", "rule"]) aws.temporary.add(name);
  const TABLE_NAME = stageTableName(stage);
  aws.variables.set("list-leads", { TABLE_NAME, ACCEPTED_AT: "1" });
  expect(await clean({ stage }, controlBy(new AbortController()))).toBe(2);
  await expectNothingLeft();
}

/** The calls that the policy in docs/deploying.md allows, without those on the table. */
function documentedCalls(): string[] {
  const page = readFileSync(join(import.meta.dirname, "../../docs/deploying.md"), "utf8");
  const [, policy = ""] = /### What it may do.*?```json\n(.*?)```/s.exec(page) ?? [];
  const { Statement } = JSON.parse(policy) as { Statement: { Action: string[] }[] };
  const actions = Statement.flatMap(({ Action }) => Action).filter(
    (action) => !action.startsWith("dynamodb:"),
  );
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

/** What is different, in which phase, and what the report has of it. */
const differences: readonly (readonly [
  name: string,
  phase: string,
  change: () => unknown,
  seen: string | RegExp,
  settings?: Run["settings"],
])[] = [
  [
    "a stage with another throttle",
    "deployed",
    () => aws.drifts.push(drift("ApiStage", "/DefaultRouteSettings/ThrottlingBurstLimit", "200", "20")),
    "The resources of the stack: ApiStage /DefaultRouteSettings/ThrottlingBurstLimit: 20",
  ],
  [
    "a cache of an hour",
    "deployed",
    () => aws.drifts.push(drift("Authorizer", "/AuthorizerResultTtlInSeconds", "60", "3600")),
    "The resources of the stack: Authorizer /AuthorizerResultTtlInSeconds: 3600",
  ],
  [
    "an index that is missing",
    "deployed",
    () => aws.drifts.push(drift("Table", "/GlobalSecondaryIndexes/3", "by-parent", "null")),
    "The resources of the stack: Table /GlobalSecondaryIndexes/3: null",
  ],
  [
    "a deleted queue",
    "deployed",
    () =>
      aws.drifts.push({
        ...drift("Failures", "", "", ""),
        PropertyDifferences: [],
        StackResourceDriftStatus: "DELETED",
      }),
    "The resources of the stack: Failures: deleted",
  ],
  [
    "a cache that keeps revoked keys",
    "keys",
    () => {},
    "A revoked key: still works after 5 s",
    { authorizerCacheSeconds: 0 },
  ],
  [
    "requests that cost twice as much",
    "cost",
    () => (aws.unitFactor = 2),
    /^A message that joins a conversation: 16\.24 W and 4\.00 R, /,
  ],
  ["a stream that is late", "cost", () => (aws.streamAge = 40), "The age of the stream: 40.0 s"],
  [
    "slow starts",
    "times",
    () =>
      (aws.reports = aws.reports.map((report) => ({
        ...report,
        ...(report.initDurationMs && { initDurationMs: 900 }),
      }))),
    /^The start of an environment of create-lead: 900 ms \(median of 20\)/,
  ],
  [
    "slow calls",
    "times",
    () => (aws.reports = aws.reports.map((report) => ({ ...report, durationMs: 80 }))),
    /^A call of a warm list-leads: 80\.0 ms, p99 80\.0 ms/,
  ],
  [
    "a function with too little memory",
    "times",
    () => (aws.reports = aws.reports.map((report) => ({ ...report, memorySizeMB: 256 }))),
    "The memory of send-message: 130 of 256 MB",
  ],
  ["slow responses", "times", () => (aws.latency = 2500), /^The latency of GET \/api\/v1\/leads: 2500 ms/],
  [
    "events that are lost",
    "events",
    () => (aws.changeEvent = (event) => (event["detail-type"] === "message.sent" ? undefined : event)),
    /^The events of 60 writes: 20 are missing, such as msg_/,
  ],
  [
    "events that are late",
    "events",
    () => (aws.eventDelay = 9000),
    /^The time from a response to its event: [89]\d{3} ms/,
  ],
  [
    "events in another envelope",
    "events",
    () => (aws.changeEvent = ({ region: _, ...event }) => event),
    /^The envelope and the fields of events: the envelope of .+: region$/,
  ],
  [
    "repeated events with other ids",
    "events",
    () =>
      (aws.changeEvent = (event) => {
        const detail = event.detail as { id: string; repeated?: boolean };
        return detail.repeated
          ? { ...event, detail: { ...detail, id: `${detail.id.slice(0, -1)}0` } }
          : event;
      }),
    /^events republish: \d+ of 40 ids$/,
  ],
  [
    "an alarm that is missing",
    "alarms",
    () => aws.alarms.delete("server-errors"),
    "The alarms of the stage: missing: server-errors",
  ],
  [
    "an alarm without an action",
    "alarms",
    () => aws.alarms.set("slow-answers", { AlarmActions: [] }),
    `The action of the alarm ${stageTableName(stage)}-slow-answers: it has none`,
  ],
  [
    "alarms that are switched off",
    "alarms",
    () => aws.alarms.set("slow-answers", { ActionsEnabled: false }),
    `The action of the alarm ${stageTableName(stage)}-slow-answers: its actions are disabled`,
  ],
  [
    "a topic that refuses alarms",
    "alarms",
    () => (aws.actionResult = "Failed to execute action arn:aws:sns:eu-central-1:1:ops: AuthorizationError"),
    `The action of the alarm ${stageTableName(stage)}-server-errors: Failed to execute action arn:aws:sns:eu-central-1:1:ops: AuthorizationError`,
  ],
];

for (const [name, phase, change, seen, settings = {}] of differences)
  test(`${name} is found, in the phase ${phase}`, async () => {
    change();
    const report = await run({ only: [phase], settings });
    const differing = ofVerdict(report, "differs");
    const isSeen = (text: string) => (typeof seen === "string" ? text === seen : seen.test(text));
    expect(differing.some(isSeen), differing.join("\n")).toBe(true);
    expect(new Set(report.findings.map((finding) => finding.phase))).toEqual(new Set([phase]));
  }, 60_000);

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
}, 60_000);

test("a phase that AWS refuses is named, and the others are made", async () => {
  vi.spyOn(aws, "drifts", "get").mockImplementation(() => {
    throw Object.assign(new Error("User is not authorized"), { name: "AccessDeniedException" });
  });
  const report = await run({ only: ["deployed", "alarms"] });
  expect(report.ended).toBe("The phase deployed failed: User is not authorized");
  expect(report.findings.filter(({ phase }) => phase === "alarms").length).toBeGreaterThan(10);
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
