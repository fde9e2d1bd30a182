import { expect, test } from "vitest";
import { openApiDocument } from "../../../lib/openapi/document.ts";
import { eventSchemas } from "../../../shared/domain/event-schemas.ts";
import { problems } from "../../../shared/errors.ts";

const guides = openApiDocument().info.description;

const guide = (title: string) =>
  guides.split(/^# /m).find((section) => section.startsWith(`${title}\n`)) ?? "";

test("each sample of the guides begins and ends on a line of its own", () => {
  expect(guides.match(/^```\w*$/gm)?.length).toBe(guides.match(/```/g)?.length);
});

test("the guides list each problem with its status", () => {
  const documented = [...guides.matchAll(/(\d{3}) \[?`(\w+)`/g)].map(
    ([, status, code]) => `${status} ${code}`,
  );
  const returned = Object.entries(problems).map(([code, { status }]) => `${status} ${code}`);
  expect(new Set(documented)).toEqual(new Set(returned));
});

test("the guide on events names each event", () => {
  for (const type of Object.keys(eventSchemas)) expect(guide("Events")).toContain(`\`${type}\``);
});

test("each guide links only to existing guides, and names the operations of its samples", () => {
  const anchors = (guides.match(/^# .+$/gm) ?? []).map((title) =>
    title.slice(2).toLowerCase().replaceAll(" ", "-"),
  );
  for (const section of guides.split(/^# /m)) {
    const links = [...section.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(anchors).toEqual(expect.arrayContaining(links));
    expect([section, links.length]).not.toEqual([section, 0]);
    for (const [operation] of section.matchAll(/^(?:GET|POST) \/api\/v1\/\w+/gm))
      expect(section).toMatch(new RegExp(`\`${operation}[\`?]`));
  }
  const instead = guide("What the API does not do").match(/^\| (?!-|Not possible).+$/gm) ?? [];
  expect(instead.filter((row) => !/\]\(#|`GET \//.test(row))).toEqual([]);
  expect(instead.length).toBeGreaterThan(10);
});

test("no line is wrapped, because some pages show each line break", () => {
  const paragraphs = guides.replaceAll(/^```[\s\S]*?^```$/gm, "").split("\n\n");
  const wrapped = paragraphs.filter((paragraph) => /\n(?![-|])/.test(paragraph.trim()));
  expect(wrapped).toEqual([]);
});

test("each guide begins with plain text, because the search shows it unformatted", () => {
  const beginnings = guides.split(/^# .+$/m).map((section) => section.trim().slice(0, 70));
  expect(beginnings.filter((text) => /[`*[|#]|\n/.test(text))).toEqual([]);
});
