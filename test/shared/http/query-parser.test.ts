import { expect, test } from "vitest";
import { queryParser } from "../../../shared/http/query-parser.ts";
import { validateCreateLead, validateListLeads } from "../../../shared/http/route-validators.ts";
import { leadsQuery } from "../../../shared/schemas/lead-schemas.ts";

/** The longest query that API Gateway passes on has fewer characters. */
const longest = 10_240;

function parse(rawQueryString: string) {
  const event = { rawQueryString, query: {} as { id: string[] } };
  queryParser(leadsQuery).before?.({ event } as never);
  return event.query;
}

test.each([
  ["one id", `id=${",".repeat(longest)}`],
  ["ids of another kind", `id=${"conv_,".repeat(longest / 6)}`],
  ["many parameters", `id=${",".repeat(45)}&`.repeat(longest / 49)],
])("with %s, at most 1,000 values are validated, each with at most two errors", (_, rawQueryString) => {
  const query = parse(rawQueryString);
  expect(query.id).toHaveLength(1000);
  expect(validateListLeads({ query })).toBe(false);
  expect(validateListLeads.errors?.length).toBeLessThanOrEqual(2001);
});

test("a value of a body has at most two errors", () => {
  const tags = Array.from({ length: 1000 }, () => `\u0001${"x".repeat(64)}`);
  expect(validateCreateLead({ query: {}, body: { name: "Ada", tags } })).toBe(false);
  // One more error is about the number of tags.
  expect(validateCreateLead.errors).toHaveLength(2001);
});

test("a filter after any number of ids is not lost", () => {
  expect(parse(`${"id=a&".repeat(300)}email=ada@example.com`)).toMatchObject({ email: "ada@example.com" });
});

test("ids may have blanks around their commas", () => {
  expect(parse("id=a,+b%20,%20c")).toEqual({ id: ["a", "b", "c"] });
});
