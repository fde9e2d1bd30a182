import { describe, expect, test } from "vitest";
import { knownName } from "../../shared/http/known-name.ts";
import { conversationsQuery } from "../../shared/schemas/conversation-schemas.ts";
import { leadsQuery, leadUpdate } from "../../shared/schemas/lead-schemas.ts";

const [ofLeads, ofConversations, ofUpdate] = [leadsQuery, conversationsQuery, leadUpdate].map(
  ({ properties }) => Object.keys(properties),
) as [string[], string[], string[]];

describe("the known name", () => {
  test.each([
    ["page", ofLeads, "cursor offset page_token"],
    ["limit", ofLeads, "per_page pageSize perPage"],
    ["createdAfter", ofLeads, "from created_gte created_after"],
    ["createdBefore", ofLeads, "until to created_to createdUntil created[lte] CREATED-BEFORE"],
    ["updatedAfter", ofLeads, "since last_modified changedSince"],
    ["sort", ofLeads, "order orderBy sort_by direction"],
    ["id", ofLeads, "_id messageId"],
    ["leadId", ofConversations, "lead"],
    ["include", ofConversations, "expand embed"],
    ["lastMessageAfter", ofConversations, "since updatedAfter last_modified changedSince activityAfter"],
    ["lastMessageBefore", ofConversations, "updatedBefore"],
    ["name", ofUpdate, "fullName first_name"],
    ["status", ofUpdate, "lead-status"],
    ["source", ofUpdate, "lead_source utm_source"],
    ["email", ofUpdate, "emailAddress mail e-mail"],
    ["addresses", ofUpdate, "phone mobileNumber"],
    ["metadata", ofUpdate, "custom_fields attributes"],
    ["tags", ofUpdate, "tag labels"],
    ["externalId", ofUpdate, "identifier"],
  ])("is %s, among %j, for %s", (meant, known, names) => {
    for (const name of names.split(" ")) expect([name, knownName(name, known)]).toEqual([name, meant]);
  });

  test.each([
    ..."x date note text body nmae chanel 字".split(" "),
    "",
    "-",
  ])("does not exist for %j", (name) => {
    for (const known of [ofLeads, ofConversations, ofUpdate]) expect(knownName(name, known)).toBeUndefined();
  });
});
