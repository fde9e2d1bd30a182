import type { Request } from "@middy/core";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { TooExpensiveError } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { requestLog } from "../../../shared/http/request-log.ts";
import * as logEvents from "../../../shared/logging/log-events.ts";
import { loggedError } from "../../../shared/logging/logged-error.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { routeEvent } from "../../support/requests/events.ts";
import { only, synthesize } from "../../support/stack/synthesize.ts";

const { template, functions } = await synthesize("prod", { channels: true });
const filters = Object.values(template.findResources("AWS::Logs::MetricFilter")).map((r) => r.Properties);
const stage = only(template, "AWS::ApiGatewayV2::Stage").properties;

/** The function that writes to each log group. */
const writers = new Map(
  Object.entries(template.findResources("AWS::Lambda::Function")).map(([id, { Properties }]) => [
    Properties.LoggingConfig.LogGroup.Ref,
    functions.get(id),
  ]),
);

const valueAt = (line: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => Object(value)[name], line);

/** Whether a condition of a JSON filter pattern holds for a line, in the forms that the stack uses. */
function holds(text: string, line: unknown): boolean {
  const [, path = "", operator, literal = ""] = /^\(*\$\.([\w.]+) (=|!=|IS) (.*?)\)*$/.exec(text) ?? [];
  const value = valueAt(line, path);
  const wanted: unknown = operator === "IS" ? literal === "TRUE" : JSON.parse(literal);
  if (typeof wanted !== "string") return value === wanted;
  if (typeof value !== "string") return false;
  const isAlike = wanted.endsWith("*") ? value.startsWith(wanted.slice(0, -1)) : value === wanted;
  return isAlike === (operator === "=");
}

/**
 * Whether a metric filter counts a line of JSON.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
 */
function matches(pattern: string, line: string): boolean {
  const [, conditions = ""] = /^\{ (.*) \}$/.exec(pattern) ?? [];
  const alternatives = conditions.split(" || ");
  return alternatives.some((text) => text.split(" && ").every((each) => holds(each, JSON.parse(line))));
}

/** The metrics that count a line of a log group, each with its dimension. */
const countedIn = (inLogGroup: (id: string) => boolean, line: string) =>
  filters
    .filter(({ LogGroupName, FilterPattern }) => inLogGroup(LogGroupName.Ref) && matches(FilterPattern, line))
    .map(({ MetricTransformations: [{ MetricName, Dimensions = [] }] }) => [
      MetricName,
      ...Dimensions.map(({ Value }: { Value: string }) => valueAt(JSON.parse(line), Value.slice(2))),
    ]);

/** The metrics that count a message in the log of a function, in Lambda's JSON format. */
const counted = (name: string, message: object) =>
  countedIn((id) => writers.get(id) === name, JSON.stringify({ level: "ERROR", message }));

/** The message that a route logs for a response. */
function requestLine(route: RouteName, response: APIGatewayProxyStructuredResultV2): object {
  const info = vi.spyOn(console, "info").mockImplementation(() => {});
  requestLog(route)({ event: routeEvent(route), response } as unknown as Request);
  const message = info.mock.lastCall?.[0];
  info.mockRestore();
  return message;
}

test("metrics count lines in the namespace of the stage, by the one dimension that alarms read; one has its line's value, two are 0 for other lines", () => {
  const transformations = filters.flatMap(({ MetricTransformations }) => MetricTransformations);
  for (const { MetricNamespace, Dimensions = [{ Key: "Event" }] } of transformations)
    expect([MetricNamespace, Dimensions]).toMatchObject(["leads-and-conversations-prod", [{ Key: "Event" }]]);
  const values = transformations.map(({ MetricName, MetricValue, DefaultValue }) => [
    MetricName,
    [MetricValue, DefaultValue],
  ]);
  expect(Object.fromEntries(values)).toMatchObject({
    AuditAge: ["$.message.oldest", undefined],
    ...{ ThrottledRequests: ["1", 0], ForbiddenRequests: ["1", 0], FrozenRequests: ["1", undefined] },
  });
});

const everyRoute = Object.keys(routes) as RouteName[];

test.each(everyRoute)("a 201 of %s is counted, but no replay of it and no other status", (route) => {
  const headers = { "idempotency-replayed": "true" };
  expect(counted(route, requestLine(route, { statusCode: 201 }))).toEqual([[route, "request"]]);
  expect(counted(route, requestLine(route, { statusCode: 201, headers }))).toEqual([]);
  for (const statusCode of [200, 400, 422, 429, 500, 503])
    expect([statusCode, counted(route, requestLine(route, { statusCode }))]).toEqual([statusCode, []]);
});

test.each(
  everyRoute,
)("a 5xx of %s counts as failed, unless a list was too expensive, because one account can cause that", (route) => {
  const countedAs = (error: Error) =>
    counted(route, { event: logEvents.requestFailed, code: "busy", cause: loggedError(error) });
  const failed = [[route, "request failed"]];
  expect(countedAs(new TypeError("On purpose."))).toEqual(failed);
  expect(countedAs(new TooExpensiveError("not_admitted", "The table fails."))).toEqual(failed);
  expect(countedAs(new TooExpensiveError("too_slow", "No."))).toEqual([]);
  expect(countedAs(new TooExpensiveError("too_many_reads", "No."))).toEqual([]);
});

test("each line that an alarm watches is counted by its event, and no other line is counted", () => {
  const { request, requestFailed, countsAudited, senderRefused, senderUnknown, ...others } = logEvents;
  const { functionFailed, countsFailed, countsBehind, eventsFailed, eventRefused, deliveryFailed } = others;
  // The failure queue and the age of the stream or the queue show these failures.
  const shown = [functionFailed, countsFailed, countsBehind, eventsFailed, eventRefused, deliveryFailed];
  for (const name of functions.values())
    for (const event of [...Object.values(others), "requests"])
      expect(counted(name, { event, status: 201, replayed: false })).toEqual(
        [...shown, "requests"].includes(event) ? [] : [[name, event]],
      );
  expect(counted("audit-counts", { event: countsAudited, oldest: 3 })).toEqual([["AuditAge"]]);
  expect(counted("deliver-message", { event: senderRefused })).toEqual([["RefusedSenders"]]);
  expect(counted("receive-webhook", { event: senderUnknown })).toEqual([["UnknownSenders"]]);
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

const frozen = { status: "503", httpMethod: "POST", "authorizer.frozenAt": "2026-01-01T00:00:00.000Z" };

/** Only these count: a 429 of the gateway, a 403 of gateway or function, and a 503 of a write to a frozen account. */
test.each<[values: Record<string, string>, metric?: string]>([
  [{ status: "429" }, "ThrottledRequests"],
  [{ status: "429", "integration.status": "429" }],
  [{ status: "201", "integration.status": "201" }],
  [{ status: "403" }, "ForbiddenRequests"],
  [{ status: "403", "integration.status": "403" }, "ForbiddenRequests"],
  [frozen, "FrozenRequests"],
  [{ ...frozen, "authorizer.frozenAt": "-" }],
  [{ ...frozen, httpMethod: "GET" }],
  [{ ...frozen, status: "500" }],
])("a line of the access log with %j counts as %s", (values, metric) => {
  expect(countedInAccessLog(values)).toEqual(metric ? [[metric]] : []);
});
