import type { RouteName } from "../../shared/routes.ts";
import * as conversations from "../../shared/schemas/conversation-schemas.ts";
import * as leads from "../../shared/schemas/lead-schemas.ts";
import { pagingDescriptions } from "../../shared/schemas/page-schemas.ts";
import { leadBody, messageBodies, toReference, updatedRecord } from "./components.ts";
import { requestExamples, responseExamples, updatedExamples, updateExamples } from "./examples.ts";

/** What the document contains about a route, besides its query, its problems and its headers. */
export interface Operation {
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** The descriptions of the query parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly body?: ReturnType<typeof jsonOf>;
  readonly successes: Readonly<Record<number, readonly [description: string, content: object]>>;
}

const json = (schema: object, example: object) => ({ schema: toReference(schema), example });

/** A body with several examples. Pages to try the API offer an example with the query parameter of the same name. */
const jsonOf = (schema: object, examples: Readonly<Record<string, object>>) => ({
  schema: toReference(schema),
  examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
});

export const operations: Readonly<Record<RouteName, Operation>> = {
  "list-leads": {
    tag: "Leads",
    summary: "List leads",
    description:
      "The account's leads, newest first unless `sort` says otherwise. Filters combine with each other and with pages.",
    parameters: { ...pagingDescriptions, ...leads.leadsQueryDescriptions },
    successes: { 200: ["A page of leads.", json(leads.leadsPage, responseExamples["list-leads"])] },
  },
  "create-lead": {
    tag: "Leads",
    summary: "Create or update a lead",
    description:
      "Stores a lead with the status `new` and the score 0. With `ifExists=update`, it changes the lead that the body names, if there is one. If a field differs, the event `lead.updated` follows. Two requests at the same moment have the same effect as one after the other.",
    parameters: leads.newLeadQueryDescriptions,
    body: jsonOf(leadBody, { lead: requestExamples["create-lead"], "ifExists=update": updateExamples.lead }),
    successes: {
      200: ["With `ifExists=update`: the whole lead, changed.", json(leads.lead, updatedExamples.lead)],
      201: ["The stored lead.", json(leads.lead, responseExamples["create-lead"])],
    },
  },
  "list-conversations": {
    tag: "Conversations",
    summary: "List conversations",
    description:
      "The account's conversations, newest first unless `sort` says otherwise. Filters combine with each other and with pages. `include=messages` opens one.",
    parameters: { ...pagingDescriptions, ...conversations.conversationsQueryDescriptions },
    successes: {
      200: [
        "A page of conversations.",
        json(conversations.conversationsPage, responseExamples["list-conversations"]),
      ],
    },
  },
  "send-message": {
    tag: "Conversations",
    summary: "Send or update a message",
    description:
      "Stores a message to a lead, or an inbound one from it. The message joins the lead's active conversation on the channel, or starts one. With `update=message`, the request stores the delivery state of a message; with `update=conversation`, it ends a conversation or makes it active again.",
    parameters: conversations.sendMessageQueryDescriptions,
    body: jsonOf(messageBodies, {
      message: requestExamples["send-message"],
      "update=message": updateExamples.message,
      "update=conversation": updateExamples.conversation,
    }),
    successes: {
      200: [
        "With `update`: the whole Message or Conversation after the update.",
        jsonOf(updatedRecord, {
          "update=message": updatedExamples.message,
          "update=conversation": updatedExamples.conversation,
        }),
      ],
      201: ["The stored message.", json(conversations.message, responseExamples["send-message"])],
    },
  },
};
