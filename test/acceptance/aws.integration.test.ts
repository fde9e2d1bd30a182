import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import { defaults } from "../../lib/config/settings.ts";
import { toUserError } from "../../lib/ops/output/aws-errors.ts";
import { errorMessage, UserError } from "../../lib/user-error.ts";
import { stageTableName } from "../../shared/stages.ts";
import { Account } from "../contract/account.ts";
import { Client } from "../contract/client.ts";
import { startApi } from "../support/api.ts";
import { synthesizeAssembly } from "../support/assembly.ts";
import { listening } from "../support/listening.ts";
import { skipWaits } from "../support/skipped-waits.ts";
import { remove, tableItems } from "../support/table-items.ts";
import { accept, phases } from "./acceptance.ts";
import { type Control, open, type Target } from "./open.ts";
import { type Acceptance, abortable } from "./phase.ts";
import { requestsOfKind } from "./phases/cost.ts";
import type { Report } from "./report.ts";
import { FakeAws } from "./support/fake-aws.ts";
import type { Event } from "./support/fake-events.ts";

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
  const left = await itemsBesideCounts();
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
  expect([...aws.calls].sort()).toEqual(documentedCalls());
});

/** The policy of whoever runs the command. */
function readPolicy() {
  const policy = readFileSync(join(import.meta.dirname, "../../docs/deploying/accept-policy.json"), "utf8");
  return (JSON.parse(policy) as { Statement: { Action: string[]; Resource: string | string[] }[] }).Statement;
}

/** The calls that the policy allows, without those on the table. */
function documentedCalls(): string[] {
  const actions = readPolicy()
    .flatMap(({ Action }) => Action)
    .filter((action) => !action.startsWith("dynamodb:"));
  return (
    actions
      .map((action) => action.split(":")[1] ?? "")
      // IAM names it otherwise.
      .map((action) => (action === "DeleteMessage" ? "DeleteMessageBatch" : action))
      .sort()
  );
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
  const { monitoring, events } = aws;
  const joins = "A message that joins a conversation";
  monitoring.streamAge = 40;
  monitoring.unitFactors.set(joins, 2).set("A retry of that lead", undefined);
  monitoring.unitFactors.set("A lead with an email address and a source", 0);
  monitoring.calls.set("create-lead", { init: 900 }).set("list-conversations", { slowest: 1200 });
  monitoring.isThrottled = false;
  events.eventDelay = 9000;
  // An event may arrive twice, and one of the phase before late.
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
  const only = ["cost", "times", "events"];
  const onNote = (text: string) => {
    if (text === "making a queue and a rule") begin = new Date().toISOString();
  };
  const report = await run({ only, wasThrottled: true, onNote });
  expect(report.ended).toBeUndefined();
  expect(ofVerdict(report, "differs")).toEqual([
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
  ]);
  expect(ofVerdict(report, "not seen")).toEqual([
    "A retry of that lead: CloudWatch has no units of the table in that minute",
  ]);
});

test("what cannot be measured is not seen, such as units beside a canary", async () => {
  aws.monitoring.isThrottled = false;
  const report = await run({ only: ["cost", "times"], settings: { canary: true } });
  expect(ofVerdict(report, "differs")).toEqual([]);
  const notSeen = ofVerdict(report, "not seen").join("\n");
  for (const text of [
    "A message that joins a conversation: the canary uses the table every five minutes",
    "The access log has requests that the throttle refused: the throttle refused no request of the phase gateway",
  ])
    expect(notSeen).toContain(text);
});

test.each(
  phases.map(({ name }) => name),
)("Ctrl-C in the phase %s ends the run, and nothing is left of it", async (phase) => {
  let isIn = false;
  const report = await run({
    only: [phase, "times"],
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
  vi.spyOn(Account.prototype, "createLead").mockRejectedValue(new Error("socket hang up"));
  aws.events.failedTargets = 1;
  const report = await run({ only: ["times", "events", "keys"] });
  expect(report.ended).toBe(
    [
      "The phase times failed: socket hang up.",
      "The phase events failed: EventBridge refused the queue: no access.",
    ].join(" "),
  );
  expect(report.findings.filter(({ phase }) => phase === "keys")).toHaveLength(2);
  await expectNothingLeft();
});

test("a request without a response while leads are created differs from the promise", async () => {
  const { createLead } = Account.prototype;
  let leads = 0;
  vi.spyOn(Account.prototype, "createLead").mockImplementation(function (this: Account, ...args) {
    return ++leads === 2 ? Promise.reject(new Error("socket hang up")) : createLead.apply(this, args);
  });
  const report = await run({ only: ["counting"] });
  expect(report.ended).toBeUndefined();
  expect(ofVerdict(report, "differs")).toEqual(["2 leads at 50 a second, and their lists: socket hang up"]);
});

test("what could not be taken back is named", async () => {
  const acceptance = await open({ ...onStage, yes: true }, control());
  acceptance.cleanUp.defer(() => Promise.reject(new Error("no network")));
  const { ended } = await accept(acceptance, []);
  const accounts = [1, 2, 3].map((n) => `accept-\\w{26}-${n}`).join(", ");
  expect(ended).toMatch(
    new RegExp(`^Not everything was taken back \\(no network\\): erase the accounts ${accounts}, and delete`),
  );
});

test("a stage without a file needs --like, before anything is asked of AWS", async () => {
  await expect(open({ stage }, control())).rejects.toThrow(/^There is no .* --like/);
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
  const before = await itemsBesideCounts();
  const error = await run({ only: [] }).then(() => undefined, toUserError);
  expect(error).toBeInstanceOf(UserError);
  expect(errorMessage(error)).toContain(sentence);
  expect(await itemsBesideCounts()).toEqual(before);
});

/** The leads of earlier tests may still be counted. */
const itemsBesideCounts = async () =>
  [...(await tableItems()).values()].filter(({ pk }) => !String(pk).startsWith("COUNT#"));
