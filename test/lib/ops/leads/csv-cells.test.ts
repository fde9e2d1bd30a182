import fc from "fast-check";
import { expect, test } from "vitest";
import { formatCsv } from "../../../../lib/ops/leads/file/csv-cells.ts";
import { openLeadFile } from "../../../../lib/ops/leads/file/lead-file.ts";
import type { Lead } from "../../../../shared/schemas/lead-schemas.ts";
import { runs } from "../../../support/cases/part.ts";
import { leadFile } from "../../../support/commands/lead-files.ts";

const aLead = (fields: Partial<Lead>): Lead => ({
  id: "lead_01M7ZA27P008RGE6JH5PA0WR2V",
  name: "Ada",
  score: 7,
  status: "new",
  tags: [],
  createdAt: "2026-11-21T15:02:14.464Z",
  updatedAt: "2026-11-21T15:02:14.464Z",
  ...fields,
});

/** The values that an import reads from a file. */
async function readLeadRows(csv: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  const options = { map: [], ignoreOthers: false, mapValue: new Map() };
  const file = await openLeadFile(await leadFile(csv), options);
  for (const row of file.rows()) rows.push(row.fault ?? row.value);
  return rows;
}

/** Text that begins with what a spreadsheet, or the format itself, treats specially. */
const hostile = fc
  .tuple(
    fc.string({
      unit: fc.constantFrom(..."=+-@\t\r\n'\"; ,[\uff1d\uff0b\uff0d\uff20"),
      minLength: 1,
      maxLength: 6,
    }),
    fc.string({ maxLength: 6 }).map((text) => text.toWellFormed()),
  )
  .map((parts) => parts.join(""));

const leads = fc
  .record({
    ...{ externalId: hostile, name: hostile, source: hostile, tags: fc.array(hostile, { maxLength: 3 }) },
    metadata: fc.dictionary(hostile, hostile, { maxKeys: 3, noNullPrototype: true }),
  })
  .map(aLead);

test("an exported file gives the same leads when it is imported", () =>
  fc.assert(
    fc.asyncProperty(fc.array(leads, { minLength: 1, maxLength: 3 }), async (stored) => {
      const rows = await readLeadRows(formatCsv(stored, true));
      expect(rows.map((row) => ({ tags: [], ...(row as object) }))).toEqual(stored);
    }),
    { numRuns: runs(1000, 4) },
  ));

test("no cell of a file begins with a formula", () =>
  fc.assert(
    fc.property(leads, ({ name, source, tags }) => {
      // Each field in a row of its own, so that it is the first cell of a known length.
      for (const text of [name, source, ...tags]) {
        const [row = ""] = formatCsv([aLead({ name: text ?? "" })]).split(",,7,new,");
        const cell = row.slice(row.indexOf(",,") + 2).replace(/^"/, "");
        expect(cell).not.toMatch(/^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/);
      }
    }),
  ));

test("metadata is JSON in one column, or has a column for each name; an empty cell is no entry", async () => {
  const entries = "name,metadata.größe,metadata.b.c\r\nAda,'=1,\r\nBob,,\r\nEve,L,x\r\n";
  expect(await readLeadRows(entries)).toEqual([
    { name: "Ada", metadata: { größe: "=1" } },
    { name: "Bob" },
    { name: "Eve", metadata: { größe: "L", "b.c": "x" } },
  ]);
  const json = 'name,metadata\r\nAda,"{""a"":""1""}"\r\nBob,{\r\nEve,\r\n';
  expect(await readLeadRows(json)).toEqual([
    ...[{ name: "Ada", metadata: { a: "1" } }, { name: "Bob", metadata: "{" }, { name: "Eve" }],
  ]);
});

test("addresses are JSON in one column, or have columns for each channel; a semicolon separates them", async () => {
  const cells = "name,addresses.sms,ADDRESSES.Web\r\nAda,'+1; 2 ;,a;b\r\nBob,,\r\n";
  expect(await readLeadRows(cells)).toEqual([
    { name: "Ada", addresses: { sms: ["+1", "2"], Web: ["a", "b"] } },
    { name: "Bob" },
  ]);
  const json = 'name,addresses\r\nAda,"{""sms"":[""+1""]}"\r\nBob,+1\r\n';
  expect(await readLeadRows(json)).toEqual([
    { name: "Ada", addresses: { sms: ["+1"] } },
    { name: "Bob", addresses: "+1" },
  ]);
  await expect(readLeadRows("name,addresses,addresses.a\r\n")).rejects.toThrow("in place of addresses");
});

test.each([
  [`"VIP","Blog, news"`, ["VIP", "Blog, news"]],
  [`"VIP";gold`, ["VIP", "gold"]],
  [`"a;b"; c|d`, ["a;b", "c|d"]],
  [`"Blog"|x,y`, ["Blog", "x,y"]],
  [`"VIP`, ['"VIP']],
  [`5" pipe,x`, ['5" pipe', "x"]],
])("the tags %j are read as %j", async (cell, tags) => {
  const csv = `name,tags\r\nAda,"${cell.replaceAll('"', '""')}"\r\n`;
  expect(await readLeadRows(csv)).toEqual([{ name: "Ada", tags }]);
});

test.each<readonly [string, unknown]>([
  ["7", 7],
  ["007", 7],
  ["100", 100],
  ["101", 101],
  ...["5.0", "5.5", "1e1", "+7", "-7", "7 7", "0x5", "1,0", "\u0667"].map((cell) => [cell, cell] as const),
])("the score %j is read as %j: a text that is not only digits stays a text, which the check reports", async (cell, score) => {
  expect(await readLeadRows(`name,score\r\nAda,"${cell}"\r\n`)).toEqual([{ name: "Ada", score }]);
});
