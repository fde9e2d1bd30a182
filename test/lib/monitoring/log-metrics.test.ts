import type { Request } from "@middy/core";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { TooExpensiveError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import type { ApiError } from "../../../shared/errors.ts";
import { requestLog } from "../../../shared/http/request-log.ts";
import { loggedError } from "../../../shared/logging/logged-error.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { routeEvent } from "../../support/events.ts";
import { only, synthesize } from "../../support/synthesize.ts";

const { template, functions } = await synthesize("prod");
const filters = Object.values(template.findResources("AWS::Logs::MetricFilter")).map((r) => r.Properties);
const stage = only(template, "AWS::ApiGatewayV2::Stage").properties;

/** The function that writes to each log group. */
const writers = new Map(
  Object.entries(template.findResources("AWS::Lambda::Function")).map(([id, { Properties }]) => [
    Properties.LoggingConfig.LogGroup.Ref,
    functions.get(id),
  ]),
);

/** One condition of a JSON filter pattern, in the forms that the stack uses. */
const condition = /^\(*\$\.([\w.]+) (?:(=|!=) "([^"*]*)(\*?)"|= (\d+)|IS (TRUE|FALSE))\)*$/;

const valueAt = (line: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], line);

function holds(text: string, line: unknown): boolean {
  const [match, path = "", operator, string = "", rest, number, truth] = condition.exec(text) ?? [];
  if (match === undefined) throw new Error(`The condition ${text} is not supported.`);
  const value = valueAt(line, path);
  if (number !== undefined) return value === Number(number);
  if (truth !== undefined) return value === (truth === "TRUE");
  if (typeof value !== "string") return false;
  return (rest ? value.startsWith(string) : value === string) === (operator === "=");
}

/**
 * Whether a metric filter counts a line of JSON.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
 */
function matches(pattern: string, line: string): boolean {
  const alternatives = /^\{ (.*) \}$/.exec(pattern)?.[1]?.split(" || ");
  if (!alternatives) throw new Error(`${pattern} is not a JSON pattern.`);
  return alternatives.some((text) => text.split(" && ").every((each) => holds(each, JSON.parse(line))));
}

/** The names of the metrics that count a line of a log group. */
const countedIn = (inLogGroup: (id: string) => boolean, line: string) =>
  filters
    .filter(({ LogGroupName, FilterPattern }) => inLogGroup(LogGroupName.Ref) && matches(FilterPattern, line))
    .map(({ MetricTransformations: [{ MetricName }] }) => MetricName);

/** The line of a function's log for a response, in Lambda's JSON format. */
function logLine(route: RouteName, response: APIGatewayProxyStructuredResultV2, error?: ApiError): string {
  const info = vi.spyOn(console, "info").mockImplementation(() => {});
  requestLog(route)({ event: routeEvent(route), response, error } as unknown as Request);
  const message = info.mock.lastCall?.[0];
  info.mockRestore();
  const timestamp = "2026-11-21T01:59:00.163Z";
  return JSON.stringify({ timestamp, level: "INFO", requestId: "invocation-1", message });
}

const counted = (route: RouteName, response: APIGatewayProxyStructuredResultV2, error?: ApiError) =>
  countedIn((id) => writers.get(id) === route, logLine(route, response, error));

const replay = { statusCode: 201, headers: { "idempotency-replayed": "true" } };

test.each<[RouteName, string]>([
  ["create-lead", "LeadsCreated"],
  ["send-message", "MessagesSent"],
])("a 201 of %s counts as %s, and a replay of it as nothing", (route, metric) => {
  expect(counted(route, { statusCode: 201 })).toEqual([metric]);
  expect(counted(route, replay)).toEqual([]);
});

test.each(
  Object.keys(routes) as RouteName[],
)("another status of %s is not counted by its line of the request", (route) => {
  for (const statusCode of [200, 400, 422, 429, 500, 503])
    expect([statusCode, counted(route, { statusCode })]).toEqual([statusCode, []]);
});

test.each<readonly [writer: string, event: string, metrics: readonly string[]]>([
  ["maintain-counts", "counts damaged", ["DamagedCounts"]],
  ["maintain-counts", "counts given up", ["DamagedCounts"]],
  ["maintain-counts", "counts failed", []],
  ["audit-counts", "counts damaged", ["DamagedCounts"]],
  ["list-leads", "counts damaged", ["DamagedCounts"]],
  ["list-conversations", "counts damaged", ["DamagedCounts"]],
  ["audit-counts", "counts repaired", ["DamagedCounts"]],
  ["maintain-counts", "late writes", ["LateWrites"]],
  ["audit-counts", "counts audited", ["AuditAge"]],
  ...Object.keys(routes).map((route) => [route, "rate limiter failed open", ["RateLimitFailures"]] as const),
  ...[...Object.keys(routes), "authorize", "audit-counts", "compose-events", "canary"].map(
    (writer) => [writer, "malformed item", ["MalformedItems"]] as const,
  ),
])("a line of %s with the event %s is counted in %j", (writer, event, metrics) => {
  const line = JSON.stringify({ level: "ERROR", message: { event, account: "acme", list: "lead" } });
  expect(countedIn((id) => writers.get(id) === writer, line)).toEqual(metrics);
});

test.each(
  Object.keys(routes) as RouteName[],
)("a 5xx of %s counts as failed, unless a list was too expensive, which one account can cause", (route) => {
  const countedAs = (error: Error) => {
    const message = { event: "request failed", code: "busy", cause: loggedError(error) };
    return countedIn((id) => writers.get(id) === route, JSON.stringify({ level: "ERROR", message }));
  };
  const metric = `FailedRequests-${route}`;
  expect(countedAs(new TypeError("On purpose."))).toEqual([metric]);
  expect(countedAs(new TooExpensiveError("not_admitted", "The table fails."))).toEqual([metric]);
  expect(countedAs(new TooExpensiveError("too_slow", "No."))).toEqual([]);
  expect(countedAs(new TooExpensiveError("too_many_calls", "No."))).toEqual([]);
});

test("Other log lines of the functions are not counted", () => {
  const line = JSON.stringify({
    level: "ERROR",
    message: { event: "requests", status: 429, replayed: true },
  });
  expect(countedIn((id) => writers.has(id), line)).toEqual([]);
});

/** The line of the access log with these values. API Gateway writes - for the others. */
function accessLine(values: Record<string, string>): string {
  return Object.entries(values)
    .reduce(
      (line, [variable, value]) => line.replaceAll(`"$context.${variable}"`, JSON.stringify(value)),
      stage.AccessLogSettings.Format,
    )
    .replaceAll(/"\$context\.[\w.]+"/g, '"-"');
}

const countedInAccessLog = (values: Record<string, string>) =>
  countedIn((id) => id === stage.AccessLogSettings.DestinationArn["Fn::GetAtt"][0], accessLine(values));

test("A 429 of the gateway counts as throttled, a 429 of a function does not", () => {
  expect(countedInAccessLog({ status: "429" })).toEqual(["ThrottledRequests"]);
  expect(countedInAccessLog({ status: "429", "integration.status": "429" })).toEqual([]);
  expect(countedInAccessLog({ status: "201", "integration.status": "201" })).toEqual([]);
});

test.each<Record<string, string>>([
  { status: "403" },
  { status: "403", "integration.status": "403" },
])("A 403 of the gateway or of a function counts as forbidden: %j", (values) => {
  expect(countedInAccessLog(values)).toEqual(["ForbiddenRequests"]);
});

test("Each metric counts lines in the stack's namespace, with 0 for lines that do not match", () => {
  expect(filters).toHaveLength(26);
  const MetricNamespace = "leads-and-conversations-prod";
  const age = { MetricNamespace, MetricName: "AuditAge", MetricValue: "$.message.oldest" };
  const others = { MetricNamespace, MetricName: expect.not.stringMatching("AuditAge"), MetricValue: "1" };
  for (const { MetricTransformations } of filters)
    expect([[age], [{ ...others, DefaultValue: 0, Unit: "Count" }]]).toContainEqual(MetricTransformations);
});
