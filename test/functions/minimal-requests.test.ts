import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type RouteName, routes } from "../../shared/routes.ts";
import { call } from "../support/call.ts";
import { useMemoryTable } from "../support/memory-leads.ts";

beforeEach(() => void useMemoryTable());
afterEach(() => void vi.restoreAllMocks());

interface ObjectSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The schema of a response, and of a list's items. */
function responseSchemas(name: RouteName): readonly ObjectSchema[] {
  const response = routes[name].response as unknown as ObjectSchema;
  const { data, pagination } = response.properties as {
    data?: { items: ObjectSchema };
    pagination: ObjectSchema;
  };
  return data ? [response, pagination, data.items] : [response];
}

/** Sends requests to every route. @returns the objects of each response */
async function useAllRoutes(lead: object): Promise<Readonly<Record<RouteName, readonly object[]>>> {
  const created = (await call("create-lead", { body: lead })).body;
  const message = { leadId: created.id, channel: "web", message: "Hello" };
  const sent = (await call("send-message", { body: message })).body;
  const leads = (await call("list-leads")).body;
  const conversations = (await call("list-conversations")).body;
  return {
    "create-lead": [created],
    "send-message": [sent],
    "list-leads": [leads, leads.pagination, leads.data[0] ?? {}],
    "list-conversations": [conversations, conversations.pagination, conversations.data[0] ?? {}],
  };
}

describe.each(Object.keys(routes) as RouteName[])("the response of %s", (name) => {
  test("has the required fields and no others if requests have only theirs", async () => {
    const responses = (await useAllRoutes({ name: "Ada" }))[name];
    expect(responses.map((response) => Object.keys(response).sort())).toEqual(
      responseSchemas(name).map(({ required }) => required.toSorted()),
    );
  });

  test("has all fields, in the order of the schema, if requests have all of theirs", async () => {
    const lead = { tags: ["vip"], source: "web", email: "ada@example.com", name: "Ada" };
    const responses = (await useAllRoutes(lead))[name];
    expect(responses.map((response) => Object.keys(response))).toEqual(
      responseSchemas(name).map(({ properties }) => Object.keys(properties)),
    );
  });
});

describe.each([
  ["list-leads", "id"],
  ["list-conversations", "id"],
  ["list-conversations", "leadId"],
] as const)("%s by %s", (name, field) => {
  test.each([
    "x",
    "lead 1",
    "\n",
    "%",
    "x".repeat(64),
  ])("finds nothing for %j, which is no id, without an error", async (id) => {
    const { status, body } = await call(name, { query: new URLSearchParams({ [field]: id }).toString() });
    expect([status, body.pagination.total]).toEqual([200, 0]);
  });
});
