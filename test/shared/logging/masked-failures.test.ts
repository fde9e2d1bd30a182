import { inspect } from "node:util";
import { expect, test, vi } from "vitest";
import { handler as authorize } from "../../../functions/authorize.ts";
import { handler as createLead } from "../../../functions/create-lead.ts";
import { handler as maintainCounts } from "../../../functions/maintain-counts.ts";
import { handler as publishEvents } from "../../../functions/publish-events.ts";
import type { RouteEvent } from "../../../shared/http/route-event.ts";
import { lambdaContext, routeEvent } from "../../support/requests/events.ts";

/** Everything that Lambda and the function log about a failure. */
async function loggedFailure(call: () => Promise<unknown>): Promise<string> {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const error = await call().then(
    () => expect.fail("The function did not fail."),
    (thrown: unknown) => thrown,
  );
  expect(error).toEqual(new Error("The function failed. Its log says where."));
  expect(logged).toHaveBeenCalledExactlyOnceWith({
    event: "function failed",
    cause: { name: "TypeError", stack: expect.stringMatching(/^ {4}at /) },
  });
  return inspect([error, logged.mock.calls], { depth: null, showHidden: true });
}

test.each([
  ["a route whose error response fails", () => createLead(brokenEvent(), lambdaContext())],
  ["authorize", () => authorize(broken("identitySource"))],
  ["maintain-counts", () => maintainCounts({ Records: [broken("dynamodb")] }, lambdaContext())],
  ["publish-events", () => publishEvents({ Records: [broken("dynamodb")] }, lambdaContext())],
])("nothing of the event of %s is logged or thrown", async (_, call) => {
  expect(await loggedFailure(call)).not.toContain("secret");
});

test("the failure of a request is logged with the request id that the caller has", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const event = { requestContext: { requestId: "Plah1ZY6WmRdgmM=" } };
  await expect(authorize(Object.assign(broken("identitySource"), event))).rejects.toThrow();
  expect(logged).toHaveBeenCalledWith(expect.objectContaining(event.requestContext));
});

/** An invalid request without the id that its error response needs. */
function brokenEvent() {
  const event = routeEvent("create-lead", { body: { secret: "secret" } });
  return { ...event, requestContext: undefined } as unknown as RouteEvent;
}

/** An object whose field cannot be read. */
const broken = (field: string) =>
  Object.defineProperty({} as never, field, {
    get: () => {
      throw Object.assign(new TypeError("secret"), { secret: "secret" });
    },
  });
