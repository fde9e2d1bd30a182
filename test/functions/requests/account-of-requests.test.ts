import { describe, expect, test, vi } from "vitest";
import { conversationKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { table } from "../../../shared/dynamodb/table-client.ts";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { invokeHandler } from "../../support/requests/call.ts";
import { routeEvent, type TestRequest } from "../../support/requests/events.ts";
import { storedConversation, storedLead } from "../../support/tables/stored.ts";
import { WatchedTable } from "../../support/tables/watched-table.ts";

const other = "other-account";
const message = { leadId: "lead_1", channel: "sms", message: "Hello" };
const headers = { "idempotency-key": "key-1" };

const requests: Record<RouteName, TestRequest> = {
  "list-leads": { query: "source=web&status=new" },
  "create-lead": { body: { name: "Ada", source: "Web" }, headers },
  "list-conversations": { query: "leadId=lead_1&channel=sms" },
  "send-message": { body: message, headers },
};

/** The headers that a route reads, in any letter case. */
const documented = /^(?:accept-encoding|content-(?:encoding|length|type)|idempotency-key)$/i;

/** The headers of a request. Each header that routes have no reason to read contains the other account. */
const namingOther = (sent: object) =>
  new Proxy(sent, {
    get: (target, name) => (documented.test(String(name)) ? Reflect.get(target, name) : other),
  });

/** The event of a request. Everything except the authorizer's result, by default of a key of `acme`, names the other account. */
function hostileEvent(name: RouteName, lambda: unknown = { accountId: "acme", access: "full" }) {
  const event = routeEvent(name, requests[name]);
  const claims = { accountId: other, sub: other };
  return {
    ...event,
    headers: namingOther(event.headers),
    cookies: [`account=${other}`, `accountId=${other}`],
    stageVariables: { account: other, accountId: other },
    pathParameters: { account: other, accountId: other },
    requestContext: {
      ...event.requestContext,
      accountId: other,
      authorizer: { lambda, accountId: other, principalId: other, jwt: { claims }, iam: claims },
    },
  };
}

describe.each(Object.values(routes))("$name", ({ name, method }) => {
  test("uses only the data of the key's account, whatever else the request names", async () => {
    const { memory } = new WatchedTable();
    for (const account of ["acme", other]) {
      memory.put({ ...storedLead("lead_1"), ...leadKey(account, "lead_1") });
      memory.put({ ...storedConversation("conv_1"), ...conversationKey(account, "conv_1") });
    }
    const { statusCode } = await invokeHandler(name, hostileEvent(name));
    expect(statusCode).toBe(method === "POST" ? 201 : 200);
    const calls = vi.mocked(table.send).mock.calls.map(([command]) => JSON.stringify(command.input));
    expect(calls.length).toBeGreaterThan(0);
    for (const input of calls) {
      expect(input).toContain("#acme");
      expect(input).not.toContain(other);
    }
  });

  test("fails without a call when the authorizer named no account", async () => {
    new WatchedTable();
    for (const lambda of [null, {}, ...["", null, ["acme"]].map((accountId) => ({ accountId }))]) {
      const { statusCode } = await invokeHandler(name, hostileEvent(name, lambda));
      expect([lambda, statusCode]).toEqual([lambda, 500]);
    }
    expect(table.send).not.toHaveBeenCalled();
  });
});
