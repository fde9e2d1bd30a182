import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { invalidExamples, requestExamples, responseExamples } from "../../../lib/openapi/examples.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { request, startApi } from "../../support/api.ts";
import { normalize } from "../../support/normalize.ts";

const api = await startApi();
const { apiKey } = await api.issueKey(randomUUID());
let leadId: string;

/** Sends a request over HTTP; `request` checks each response against the document. */
const send = (name: RouteName, sent: Omit<Parameters<typeof request>[2], "apiKey"> = {}) =>
  request(api, name, { apiKey, ...sent });

/** An example's body, with the id of a lead that there is. */
const bodyOf = (name: RouteName) => {
  const body = requestExamples[name];
  return body && "leadId" in body ? { ...body, leadId } : body;
};

test("each example of a request receives the example of its response", async () => {
  for (const name of ["create-lead", "send-message", "list-leads", "list-conversations"] as const) {
    const { status, body } = await send(name, { body: bodyOf(name) });
    expect([name, status, normalize(body)]).toEqual([
      name,
      routes[name].success,
      normalize(responseExamples[name]),
    ]);
    if (name === "create-lead") leadId = (body as { id: string }).id;
  }
});

const names = Object.keys(routes) as RouteName[];

test.each(
  names,
)("%s answers its example of an invalid request with the example of that answer", async (name) => {
  const { query, body, response: answer } = invalidExamples[name];
  const refused = await send(name, { query, body });
  expect([refused.status, normalize(refused.body)]).toEqual([400, normalize(answer)]);
});
