import type { MiddlewareObj } from "@middy/core";
import type { Fault } from "../errors.ts";
import { lastPage, pageRequest } from "../pages/page.ts";
import type { ConversationsQuery } from "../schemas/conversation-schemas.ts";
import { maxLimit, maxPage } from "../schemas/page-schemas.ts";
import { addFaults } from "./faults.ts";
import type { RouteEvent } from "./route-event.ts";

/** Finds the faults of parameters that are valid by themselves, and do not go together. */
export function conversationsQueryRules(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      // Not yet valid: a parameter that cannot be read as one string has another type.
      const query = event.query as ConversationsQuery;
      const { id: ids, include } = query;
      const sort = typeof query.sort === "string" ? query.sort : undefined;
      const fault = (field: keyof ConversationsQuery, code: Fault["code"], message: string) =>
        addFaults(event, { in: "query", field, code, message });
      if (include === "messages" && ids?.length !== 1)
        fault("include", "not_allowed", "needs exactly one id of a conversation");
      for (const name of ["messageLimit", "messagesBefore"] as const)
        if (include === undefined && query[name] !== undefined)
          fault(name, "not_allowed", "needs include=messages");
      const { page, limit } = pageRequest(query);
      const last = lastPage({ sort }, limit);
      const areValid = [page, limit].every((number) => Number.isInteger(number) && number > 0);
      if (areValid && limit <= maxLimit && page <= maxPage && page > last) {
        const next = sort === "lastMessageAt" ? "lastMessageAfter" : "lastMessageBefore";
        fault("page", "out_of_range", `must be at most ${last} with this sort and limit: go on with ${next}`);
      }
    },
  };
}
