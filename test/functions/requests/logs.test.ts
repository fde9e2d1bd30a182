import { Readable } from "node:stream";
import { format } from "node:util";
import { ulid } from "ulid";
import { beforeEach, expect, test, vi } from "vitest";
import { handler as authorize } from "../../../functions/authorize.ts";
import { handler as maintainCounts } from "../../../functions/maintain-counts.ts";
import { newApiKey, parseApiKey } from "../../../shared/domain/api-key-format.ts";
import { newId } from "../../../shared/ids.ts";
import type { RouteName } from "../../../shared/routes.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";
import { invokeHandler } from "../../support/requests/call.ts";
import {
  authorizerEvent,
  lambdaContext,
  routeEvent,
  type TestRequest,
} from "../../support/requests/events.ts";
import { findLeaks } from "../../support/setup/leaks.ts";
import { storedLead } from "../../support/tables/stored.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";
import {
  errorResponse,
  interceptAttempts,
  type Received,
  response,
  timedOut,
} from "../../support/tables/table-faults.ts";

/** Occurs nowhere else: a log that contains it contains what a test sent. */
const marker = "zqxjkvwb";

/** The text for a field. It repeats the marker, so that a fragment of the text in an error is also found. */
const textOf = (field: string) => `${marker.repeat(3)}-${field}`;

const apiKey = newApiKey(ulid());
const secrets = [marker, apiKey.split("_")[2] ?? "", String(parseApiKey(apiKey)?.sha256)];

/** What the functions have logged. */
let lines: string[];
beforeEach(() => {
  stopClock();
  vi.stubEnv("AWS_ACCESS_KEY_ID", "a");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "b");
  lines = [];
  for (const level of ["debug", "log", "info", "warn", "error"] as const)
    vi.spyOn(console, level).mockImplementation((...line) => void lines.push(format(...line)));
});

const createItem = (S: string) =>
  Object.fromEntries(
    ["pk", "sk", "id", "status", "source", "validUntil", "entries"].map((name) => [name, { S }]),
  );

const withText = (statusCode: number, text: string): Received => ({
  response: { statusCode, headers: {}, body: Readable.from([Buffer.from(text)]) },
});

const exception =
  (type: string, status = 400) =>
  (text: string) =>
    errorResponse(status, type, {
      ...{ message: text, Message: text, Item: createItem(text) },
      CancellationReasons: [{ Code: "ValidationError", Message: text, Item: createItem(text) }],
    });

/** How the table fails a call. Each response quotes more of the data than AWS would ever quote. */
const faults: Readonly<Record<string, (text: string) => Received | Error>> = {
  ValidationException: exception("ValidationException"),
  AccessDeniedException: exception("AccessDeniedException"),
  ResourceNotFoundException: exception("ResourceNotFoundException"),
  ThrottlingException: exception("ThrottlingException"),
  TransactionCanceledException: exception("TransactionCanceledException"),
  InternalServerError: exception("InternalServerError", 500),
  "no JSON": (text) => withText(200, `${text} is no JSON`),
  "no JSON in an error": (text) => withText(400, `${text} is no JSON`),
  "items of no sense": (text) => {
    const items = [createItem(text)];
    return response(200, { Item: items[0], Items: items, Count: text, Responses: { unit: items } });
  },
  "a lost connection": (text) => Object.assign(new Error(text), { code: "ECONNRESET" }),
  "no answer": timedOut,
};

/** Every header in which a caller may send text. */
const headers = {
  "user-agent": textOf("user-agent"),
  referer: `https://${textOf("referer")}.example`,
  cookie: `session=${textOf("cookie")}`,
  "idempotency-key": textOf("idempotency"),
  "x-forwarded-for": textOf("forwarded"),
  [textOf("header")]: textOf("header-value"),
};
const lead = {
  ...{ name: textOf("name"), email: `${textOf("local")}@${textOf("domain")}.example` },
  ...{ source: textOf("source"), tags: [textOf("tag"), textOf("other-tag")] },
};
const message = { leadId: newId("lead"), channel: textOf("channel"), message: textOf("message") };

const requests: readonly (readonly [RouteName, TestRequest])[] = [
  ["list-leads", { query: `source=${textOf("source")}` }],
  ["create-lead", { body: lead }],
  ["list-conversations", { query: `leadId=${textOf("lead")}&channel=${textOf("channel")}` }],
  ["send-message", { body: message }],
];

/** Counts a change of a lead, until little time is left. */
function countLead() {
  const id = newId("lead", Date.now() - 60_000);
  const records = [streamRecord(undefined, storedLead(id, "acme", lead))];
  return maintainCounts({ Records: records }, lambdaContext(6000));
}

test.each(
  Object.entries(faults),
)("no text of an error of the table is logged or returned: %s", async (name, fail) => {
  interceptAttempts(async ({ input }) => {
    const outcome = fail(`${textOf("row")} ${JSON.stringify(input)}`);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  for (const [route, request] of requests) {
    const account = `${name} ${route}`;
    const { statusCode, ...response } = await invokeHandler(
      route,
      routeEvent(route, { account, headers, ...request }),
    );
    const isRefused = name === "ThrottlingException" || (statusCode ?? 0) >= 500;
    // Routes read invalid items as far as they can.
    expect([route, isRefused]).toEqual([route, name !== "items of no sense"]);
    expect(lines.at(-1)).toContain(`route: '${route}'`);
    if (isRefused) expect(findLeaks([JSON.stringify(response)], secrets)).toEqual([]);
  }
  await authorize(authorizerEvent(`Bearer ${apiKey}`)).catch((error) => lines.push(format(error)));
  expect((await countLead()).batchItemFailures).toHaveLength(1);
  expect(lines.join("\n")).toMatch(/counts (?:failed|given up)/);
  expect(findLeaks(lines, secrets)).toEqual([]);
});
