import { expect, test } from "vitest";
import { queryParser } from "../../../shared/http/query-parser.ts";
import { validateListLeads } from "../../../shared/http/route-validators.ts";
import { leadsQuery } from "../../../shared/schemas/lead-schemas.ts";

/** The longest query that API Gateway passes on has fewer characters. */
const longest = 10_240;

test.each([
  ["one id", `id=${",".repeat(longest)}`],
  ["ids of another kind", `id=${"conv_,".repeat(longest / 6)}`],
  ["many parameters", `id=${",".repeat(45)}&`.repeat(longest / 49)],
])("with %s, at most 1,000 values are validated, each with at most two errors", (_, rawQueryString) => {
  const event = { rawQueryString, query: {} as { id: string[] } };
  queryParser(leadsQuery).before?.({ event } as never);
  expect(event.query.id).toHaveLength(1000);
  expect(validateListLeads({ query: event.query })).toBe(false);
  expect(validateListLeads.errors?.length).toBeLessThanOrEqual(2001);
});

test("a filter after any number of ids is not lost", () => {
  const rawQueryString = `${"id=a&".repeat(300)}email=ada@example.com`;
  const event = { rawQueryString, query: {} };
  queryParser(leadsQuery).before?.({ event } as never);
  expect(event.query).toMatchObject({ email: "ada@example.com" });
});

test("ids may have blanks around their commas", () => {
  const event = { rawQueryString: "id=a,+b%20,%20c", query: {} };
  queryParser(leadsQuery).before?.({ event } as never);
  expect(event.query).toEqual({ id: ["a", "b", "c"] });
});
