import { leads, type Row, unique } from "../account.ts";
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
    "A list without filters shows a new lead at once, and first": async ({ mine }) => {
      const lead = await mine.createLead();
      expectMatch("the first lead", (await mine.list(leads, { limit: 1 })).data, [lead]);
    },
    "A list by id or by times shows a new lead at once": async ({ mine }) => {
      const { id, createdAt: createdAfter } = await mine.createLead();
      await mine.expectRows(leads, { id }, [id]);
      const { data } = await mine.list(leads, { createdAfter });
      expectMatch(
        `leads from ${createdAfter}`,
        data.find((lead: Row) => lead.id === id),
        { id },
      );
    },
  }),
  ...promises("docs/usage.md#pages", {
    "The total of all leads grows at once by each new lead": async ({ mine }) => {
      const before = await mine.count(leads);
      for (let n = 1; n <= 3; n++) {
        await mine.createLead();
        expectMatch(`the total after ${n} new leads`, await mine.count(leads), before + n);
      }
    },
  }),
];
