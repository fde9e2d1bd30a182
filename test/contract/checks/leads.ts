import { leads, type Query, unique } from "../account.ts";
import { promises } from "../check.ts";
import { expectMatch, expectResponse, Failure } from "../expectations.ts";

const emoji = "\u{1F600}";

/** How far the clocks of the caller and the service may differ, in milliseconds. */
const clockDifference = 60_000;

export const leadChecks = [
  ...promises("README.md#first-requests", {
    "A new lead is returned with 201 and all its fields, the status new and the score 0": async ({
      mine,
    }) => {
      const fields = { name: "Ada", email: "ada@example.com", source: "fair", tags: ["vip", "a b"] };
      const body = { ...fields, id: /^lead_\w{1,59}$/, score: 0, status: "new" };
      expectResponse(await mine.post(leads, fields), { status: 201, body });
    },
  }),
  ...promises("docs/openapi.json#/components/schemas/Lead", {
    "A lead without optional fields has no email, no source and an empty list of tags": async ({ mine }) => {
      const expected = { email: undefined, source: undefined, tags: [] };
      expectMatch("a lead with only a name", await mine.createLead(), expected);
    },
    "The creation time of a lead is the time of its request, in UTC": async ({ mine }) => {
      const { createdAt } = await mine.createLead();
      expectMatch("createdAt", createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      if (Math.abs(Date.parse(createdAt) - Date.now()) > clockDifference)
        throw new Failure("createdAt", new Date().toISOString(), createdAt);
    },
  }),
  ...promises("docs/usage.md#input", {
    "The texts of a lead are stored as they were sent, but a source in lower case": async ({ mine }) => {
      const texts = { name: ` Zo\u00eb \u202e"<b>\\ \u{1F468}\u200d\u{1F469} `, tags: ["B", "a", "B", " "] };
      const fields = { ...texts, email: `Ada.L@${unique("Mail")}.Example` };
      const { id } = await mine.createLead({ ...fields, source: "MESSE KÖLN" });
      expectMatch("the lead", (await mine.list(leads, { id })).data, [{ ...fields, source: "messe köln" }]);
    },
  }),
  ...promises("README.md#routes-and-fields", {
    "The longest name, email, source and tags are stored, counted in code points": async ({ mine }) => {
      const email = `${"a".repeat(64)}@${"b.".repeat(93)}com`;
      const texts = {
        name: emoji.repeat(200),
        source: emoji.repeat(64),
        tags: Array(50).fill(emoji.repeat(64)),
      };
      expectMatch("the lead", await mine.createLead({ ...texts, email }), { ...texts, email });
    },
  }),
  ...promises("docs/usage.md#when-changes-become-visible", {
    "Lists without filters, by id and by times show a new lead at once, and first": async ({ mine }) => {
      const lead = await mine.createLead();
      for (const query of [{}, { id: lead.id }, { createdAfter: lead.createdAt }] as Query[])
        expectMatch("the first lead", (await mine.list(leads, { ...query, limit: 1 })).data, [lead]);
    },
  }),
];
