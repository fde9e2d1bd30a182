import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { leadsCommand } from "../../../../lib/ops/leads/leads-command.ts";
import { runs } from "../../../support/cases/part.ts";
import { runJson } from "../../../support/commands/command.ts";
import { anAccount, filePath, leadFile, storedLeads } from "../../../support/commands/lead-files.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";

useTablesOfCommands();

const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "=1+1",
    "'=1",
    " a ",
    "a;b",
    '["a"]',
    "[",
    '"a","b"',
    "a ::: b",
    "\u0000",
  ),
  fc.constantFrom(
    "x".repeat(64),
    "é".repeat(600),
    "x".repeat(201),
    "½".repeat(22),
    "\u3164",
    "2026-01-01",
    "l\ns",
  ),
);
/** A text that is often short and without anything special. */
const word = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: fc.constantFrom(..."ab 'é"), minLength: 1, maxLength: 4 }) },
  text,
);
const map = (value: fc.Arbitrary<unknown>) => fc.dictionary(word, value, { maxKeys: 3 });
const fields: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  email: fc.oneof(fc.constantFrom("a@b.de", "A@b.de", `${"a".repeat(250)}@b.de`), text),
  source: word,
  externalId: word,
  tags: fc.oneof(word, fc.array(word, { maxLength: 4 }), fc.constant(Array(51).fill("a"))),
  status: fc.constantFrom("new", " BOOKED ", "open"),
  score: fc.oneof(fc.integer({ min: -1, max: 101 }), fc.double(), text),
  metadata: fc.oneof(map(word), map(fc.anything()), fc.constant({}), text),
  addresses: fc.oneof(map(fc.array(word, { maxLength: 3 })), text),
  createdAt: fc.oneof(
    fc.date({ noInvalidDate: true, max: new Date() }).map((date) => date.toJSON()),
    text,
  ),
  id: fc.constantFrom("lead_01M7ZA27P008RGE6JH5PA0WR2V", "lead_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
};
const rows = fc
  .subarray(Object.keys(fields), { maxLength: 4 })
  .chain((names) =>
    fc.array(
      fc.record({ name: word, ...Object.fromEntries(names.map((name) => [name, fields[name] ?? word])) }),
      { minLength: 1, maxLength: 3 },
    ),
  );

const leads = (account: string, ...args: string[]) => runJson(leadsCommand(), ...args, "--account", account);

/** Writes rows as a .csv file, in which the column `name` is called `Kunde`. */
function toCsv(content: readonly object[]) {
  const { name, ...others } = Object.fromEntries(Object.keys(content[0] ?? {}).map((key) => [key, key]));
  return stringify([...content], { header: true, columns: { name: "Kunde", ...others } });
}

test.each([
  ".json",
  ".csv",
])("rows of a %s that a dry run accepts are stored completely, and importing their export gives the same leads", (ending) =>
  fc.assert(
    fc.asyncProperty(rows, async (content) => {
      const isJson = ending === ".json";
      const file = await leadFile(isJson ? JSON.stringify(content) : toCsv(content), ending);
      const words = ["import", file, ...(isJson ? [] : ["--map", "kunde=name"])];
      const [account, other] = [await anAccount(), await anAccount()];
      const tried = await leads(account, ...words, "--dry-run");
      const { output, failure } = await leads(account, ...words);
      expect(failure).toBe(tried.failure);
      if (failure) return;
      const { valid, first = [], rejected } = tried.output;
      expect(output).toMatchObject({ rejected });
      expect(output.imported + output.present).toBe(valid);
      const stored = await storedLeads(account);
      for (const lead of first.slice(0, output.present === 0 ? 3 : 1))
        expect(stored).toContainEqual(expect.objectContaining(lead));
      const path = filePath(".csv");
      await leads(account, "export", "--output", path);
      expect((await leads(other, "import", path)).output).toMatchObject({ imported: stored.length });
      const updatedAt = expect.any(String);
      expect(await storedLeads(other)).toEqual(stored.map((lead) => ({ ...lead, updatedAt })));
    }),
    { numRuns: runs(400, 8) },
  ));

const others = "--ignore-others";
const seat = '{"name":"Ada","row":{"name":"seat"}}\n';

test.each<readonly [string, string, string[], object[], string[]]>([
  [
    "name,preferred,second\nAda,Phone,Email\nBo,Phone,Email,Status\n",
    ".csv",
    [others],
    [{ name: "Ada" }],
    ["preferred", "second"],
  ],
  [
    '[{"name":"Ada","a":"Phone"},{"name":"Email","a":"Phone"}]',
    ".json",
    [others],
    [{ name: "Ada" }, { name: "Email" }],
    ["a"],
  ],
  ["name,Updated At\nAda,2024-01-01\n", ".csv", [others], [{ name: "Ada" }], ["Updated At"]],
  ["name,updatedAt\nAda,2024-01-01\n", ".csv", [others], [{ name: "Ada" }], ["updatedAt"]],
  [seat, ".jsonl", [others], [{ name: "Ada" }], ["row"]],
  [
    '"Report,\r\nof March"\r\n,;\r\nKontakt;E_Mail_x;a\r\nAda;a@b.de;1\r\n',
    ".csv",
    ["--map", "KONTAKT=name", "--map", "e-mail x=email", others],
    [{ name: "Ada", email: "a@b.de" }],
    ["line 1", "a"],
  ],
  [
    "Report, March 2024\nName;Email;Labels\nAda;a@b.de;x\n",
    ".csv",
    [],
    [{ name: "Ada", email: "a@b.de", tags: ["x"] }],
    ["line 1"],
  ],
])("an import of %j from a %s with %j reads the leads %j, and leaves out %j", async (content, ending, args, first, leftOut) => {
  const path = await leadFile(content, ending);
  const { output } = await leads("acme", "import", path, "--dry-run", ...args);
  const expected = first.map((lead) => ({ score: 0, status: "new", tags: [], ...lead }));
  expect([output.first, output.leftOut]).toEqual([expected, leftOut]);
});
