import { expect, test } from "vitest";
import { invokeHandler } from "../support/call.ts";
import { routeEvent } from "../support/events.ts";

const bodies = {
  "create-lead": { name: "Ada" },
  "send-message": { leadId: "lead_1", channel: "sms", message: "Hello" },
};
const names = ["create-lead", "send-message"] as const;

/** Sends a valid request whose authorizer returned this context. */
async function statusWith(name: (typeof names)[number], context: object): Promise<number | undefined> {
  const event = routeEvent(name, { body: bodies[name] });
  const requestContext = { ...event.requestContext, authorizer: { lambda: context } };
  return (await invokeHandler(name, { ...event, requestContext })).statusCode;
}

test.each(names)("%s refuses every access but full access", async (name) => {
  for (const access of ["read", "", "FULL", "full ", "write", undefined, null, true, 1, ["full"]])
    expect([access, await statusWith(name, { accountId: "odd", keyId: "1", access })]).toEqual([access, 403]);
});

test("full access may write", async () => {
  const context = { accountId: "full", keyId: "1", access: "full" };
  expect(await statusWith("create-lead", context)).toBe(201);
  expect(await statusWith("send-message", context)).toBe(404);
});
