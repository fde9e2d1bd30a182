import { expect, test } from "vitest";
import { defaults } from "../../../lib/config/settings.ts";
import { openApiDocument } from "../../../lib/openapi/document.ts";
import { eventSchemas } from "../../../shared/domain/event-schemas.ts";
import { problems } from "../../../shared/errors.ts";
import { maxBodyBytes } from "../../../shared/http/json-scan.ts";
import { newMessage } from "../../../shared/schemas/conversation-schemas.ts";
import { defaultLimit, maxLimit } from "../../../shared/schemas/page-schemas.ts";

const guides = openApiDocument().info.description;

const guide = (title: string) =>
  guides.split(/^# /m).find((section) => section.startsWith(`${title}\n`)) ?? "";

test("the description of the document has a guide for each subject", () => {
  expect(guides.match(/^# .+$/gm)).toEqual([
    "# Authentication",
    "# Lists and filters",
    "# Read everything",
    "# Which key to choose",
    "# Update a lead",
    "# Messages",
    "# An inbox",
    "# Deliver and report",
    "# Receive answers",
    "# What the API does not do",
    "# Retries",
    "# Limits and 429",
    "# Events",
    "# Errors",
  ]);
  // Each sample begins and ends on a line of its own.
  expect(guides.match(/^```\w*$/gm)?.length).toBe(guides.match(/```/g)?.length);
});

test("the guides have each problem with its status", () => {
  const documented = [...guide("Errors").matchAll(/^\| (\d{3}) `(\w+)` \|/gm)];
  expect(Object.fromEntries(documented.map(([, status, code]) => [code, Number(status)]))).toEqual(
    Object.fromEntries(Object.entries(problems).map(([code, { status }]) => [code, status])),
  );
});

test("the guides have each event", () => {
  for (const type of Object.keys(eventSchemas)) expect(guide("Events")).toContain(`\`${type}\``);
});

test("the guides have the limits of the code", () => {
  const count = (value: number) => value.toLocaleString("en");
  expect(guide("Lists and filters")).toContain(`from 1 to ${maxLimit}, by default ${defaultLimit}`);
  const { rateLimitRequests } = defaults;
  expect(guide("Limits and 429")).toContain(`${count(rateLimitRequests)} requests in each minute`);
  expect(guide("Limits and 429")).toContain(`q=${rateLimitRequests};w=60`);
  expect(guide("Limits and 429")).toContain(`at most ${maxBodyBytes / 1024} KB`);
  expect(guide("Limits and 429")).toContain(`${count(newMessage.properties.message.maxLength)} characters`);
});

test("no line is wrapped, because some pages show each line break", () => {
  const paragraphs = guides.replaceAll(/^```[\s\S]*?^```$/gm, "").split("\n\n");
  const wrapped = paragraphs.filter((paragraph) => /\n(?![-|])/.test(paragraph.trim()));
  expect(wrapped).toEqual([]);
});

test("each guide begins with words that the search can show as they are", () => {
  const beginnings = guides.split(/^# .+$/m).map((section) => section.trim().slice(0, 70));
  expect(beginnings.filter((text) => /[`*[|#]|\n/.test(text))).toEqual([]);
});
