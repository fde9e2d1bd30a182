import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { findMeantColumn } from "../../../../lib/ops/leads/file/column-names.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { anAccount, leadFile, storedLeads } from "../../../support/commands/lead-files.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { program } from "../support/program.ts";

useTablesOfCommands();

const berlin = ["--time-zone", "Europe/Berlin"];

interface OtherFile {
  readonly content: string | Buffer;
  readonly ending?: string;
  /** What the first run prints, including the command of the second one. Without it, the first run stores the rows. */
  readonly first?: readonly string[];
  /** Further options of the run that stores the rows. */
  readonly options?: readonly string[];
  readonly lost?: readonly string[];
  readonly stored: readonly object[];
}

const files: Readonly<Record<string, OtherFile>> = {
  HubSpot: {
    content:
      '"Record ID","Last Name","First Name","Email","Mobile Phone Number","Phone Number","Lead Status","Create Date","Company name"\r\n"501","Krüger","Ida","ida@example.com","+49 177 2","+49 30 1","NEW","2024-07-11 21:22","Krüger, Söhne"\r\n"502","","Jon","","","NULL","Attempted to contact","2024-08-18",""\r\n',
    first: [
      "--map 'Company name=metadata.Company name'",
      "2 rows, first line 2: createdAt must have a time zone, such as 2026-11-21T01:59:00Z: see --time-zone.",
      "--map-value 'attempted to contact=new' says which one it is.",
    ],
    options: [...berlin, "--map-value", "Attempted to Contact=qualified", "--map-value", "NULL="],
    stored: [
      {
        externalId: "501",
        name: "Ida Krüger",
        email: "ida@example.com",
        addresses: { phone: ["+49 177 2", "+49 30 1"] },
        metadata: { "Company name": "Krüger, Söhne" },
        createdAt: "2024-07-11T19:22:00.000Z",
      },
      { externalId: "502", name: "Jon", status: "qualified", createdAt: "2024-08-17T22:00:00.000Z" },
    ],
  },
  Facebook: {
    content: Buffer.from(
      "\uFEFFid\tcreated_time\tcampaign_name\tfull_name\temail\tphone_number\nl:87\t2024-05-01T10:00:00-05:00\tSpring\tAna Ruiz\tana@example.com\tp:+34600\n",
      "utf16le",
    ),
    first: [
      "Line 2: id must be lead_ followed by a ULID, as in an export: for ids of your own, use --map id=externalId",
    ],
    options: ["--map", "id=externalId"],
    stored: [
      {
        ...{
          externalId: "l:87",
          name: "Ana Ruiz",
          email: "ana@example.com",
          addresses: { phone: ["+34600"] },
        },
        metadata: { campaign_name: "Spring" },
        createdAt: "2024-05-01T15:00:00.000Z",
      },
    ],
  },
  Brevo: {
    content:
      "CONTACT ID;EMAIL;FIRSTNAME;LASTNAME;SMS;WHATSAPP;ADDED_TIME;OPT_IN\n7;li@example.com;Li;Wei;8613;8614;12-04-2022 09:30;Yes\n8;;Bo;;-;;25-04-2022 09:30;No\n",
    first: ["see --date-format and --time-zone.", "--map OPT_IN=metadata.OPT_IN"],
    options: ["--date-format", "d-M-yyyy H:mm", ...berlin],
    stored: [
      {
        externalId: "7",
        name: "Li Wei",
        email: "li@example.com",
        metadata: { OPT_IN: "Yes" },
        addresses: { sms: ["8613"], whatsapp: ["8614"] },
        createdAt: "2022-04-12T07:30:00.000Z",
      },
      { externalId: "8", name: "Bo", metadata: { OPT_IN: "No" }, createdAt: "2022-04-25T07:30:00.000Z" },
    ],
  },
  LinkedIn: {
    content:
      'Notes:\n"When exporting your data, some ""email addresses"" are missing."\n\nFirst Name,Last Name,URL,Email Address,Company,Connected On\n Ole ,Berg,https://example.com/ole,,Berg AS,15 Jan 2024\n',
    first: ["--map URL=metadata.URL --map Company=metadata.Company"],
    options: ["--date-format", "d MMM yyyy", ...berlin],
    lost: ["line 1", "line 2"],
    stored: [
      {
        name: "Ole Berg",
        metadata: { URL: "https://example.com/ole", Company: "Berg AS" },
        createdAt: "2024-01-14T23:00:00.000Z",
      },
    ],
  },
  Google: {
    content: `First Name,Middle Name,Last Name,${Array.from({ length: 12 }, (_, i) => `Custom Field ${i}`)},Labels,E-mail 1 - Value,Phone 1 - Value\nEva,M.,Sand,${Array.from({ length: 12 }, (_, i) => i)},* myContacts ::: Friends,eva@example.com,+47 1 ::: +47 2\n`,
    first: ["--ignore-others", 'Left out: "Custom Field 10", "Custom Field 11".'],
    lost: ["Custom Field 10", "Custom Field 11"],
    stored: [
      {
        name: "Eva M. Sand",
        email: "eva@example.com",
        tags: ["* myContacts", "Friends"],
        addresses: { phone: ["+47 1", "+47 2"] },
        metadata: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`Custom Field ${i}`, `${i}`])),
      },
    ],
  },
  Pipedrive: {
    content:
      '[{"Person - Name":"Tom, Jr.","Lead labels":"a|b","Tags":"hot|cold","Person - Email - Work":"tom@example.com","Person - Phone - Mobile":"+1 2","Person - Person created":"20240115"},{"Person - Name":"Uma","Tags":null}]',
    ending: ".json",
    first: ["--map 'Lead labels=metadata.Lead labels'"],
    options: ["--date-format", "yyyyMMdd", "--time-zone", "UTC"],
    stored: [
      {
        name: "Tom, Jr.",
        email: "tom@example.com",
        addresses: { phone: ["+1 2"] },
        tags: ["hot", "cold"],
        metadata: { "Lead labels": "a|b" },
        createdAt: "2024-01-15T00:00:00.000Z",
      },
      { name: "Uma" },
    ],
  },
  "a form with long questions": {
    content: `Name|Date|"How did you hear about us, and what's ""new"" for you?"|constructor\nKim|03/15/24|A 'friend'|x\n`,
    first: [
      `--map 'How did you hear about us, and what'\\''s "new" for you?=metadata.How did you hear about us, and what'\\''s "n'`,
    ],
    stored: [
      {
        name: "Kim",
        metadata: {
          Date: "03/15/24",
          "How did you hear about us, and what's \"n": "A 'friend'",
          constructor: "x",
        },
      },
    ],
  },
  "Excel with semicolons": {
    content: "\uFEFFName;E-Mail;Source;;\r\nJürgen Groß;juergen@example.com;Messe, Köln;;\r\n;;;;\r\n",
    stored: [{ name: "Jürgen Groß", email: "juergen@example.com", source: "messe, köln" }],
  },
  "Excel in big-endian UTF-16": {
    content: Buffer.from("\uFEFFNAME\tEMAIL\r\nŁukasz Żak\tlukasz@example.com\r\n", "utf16le").swap16(),
    ending: ".txt",
    stored: [{ name: "Łukasz Żak", email: "lukasz@example.com" }],
  },
  "sep=": {
    content: 'sep=|\r\nname|tags\r\n"Ann|Lee"|a;b',
    stored: [{ name: "Ann|Lee", tags: ["a", "b"] }],
  },
  "one column": { content: "Name\nAnn|Lee\n", stored: [{ name: "Ann|Lee" }] },
  "CR only, in UTF-16 without a mark": {
    content: Buffer.from('Name,Status\rEve,Booked\r"Two, words",\r', "utf16le"),
    stored: [{ name: "Eve", status: "booked" }, { name: "Two, words" }],
  },
  "Windows-1252": {
    content: Buffer.from("name,source\nJos\xe9 \x96 \x80,Caf\xe9\n", "latin1"),
    options: ["--encoding", "windows-1252"],
    stored: [{ name: "José – €", source: "café" }],
  },
  JSON: {
    content: '[{"name":"Kim","tags":["a;b"],"score":7},{"name":"Bo","email":null,"metadata":{"plan":"pro"}}]',
    ending: ".json",
    stored: [
      { name: "Kim", tags: ["a;b"], score: 7 },
      { name: "Bo", metadata: { plan: "pro" } },
    ],
  },
};

test.each([
  ["Id", "externalId"],
  ["Lead Name", "name"],
  ["Tag", "tags"],
  ["Lead Source", "source"],
  ["Created Time", "createdAt"],
  ["OPTIN_TIME", "createdAt"],
  ["Submit Date (UTC)", "createdAt"],
  ["What's your full name?", "name"],
])("the column %s of another program means %s", (name, column) => expect(findMeantColumn(name)).toBe(column));

/** The words of a command that was printed to be pasted, as a shell reads them. */
function pasted(printed: string): string[] {
  const [, line = ""] = /^npm run ops -- (.*)$/m.exec(printed) ?? [];
  return execFileSync("sh", ["-c", `printf '%s\\n' ${line}`], { encoding: "utf8" })
    .trim()
    .split("\n");
}

test.each(Object.entries(files))("a file of %s is imported with at most two runs", async (_name, file) => {
  const { content, ending = ".csv", first, options = [], lost, stored } = file;
  const account = await anAccount();
  const path = await leadFile(content, ending);
  let words = ["leads", "import", path, "--account", account, "--table", tableName];
  if (first) {
    const { code, stdout, stderr } = await program(words);
    for (const sentence of first) expect(stdout + stderr).toContain(sentence);
    // The exit code is 3 for mistakes in rows only, and 1 for mistakes in the file.
    expect({ code, leads: await storedLeads(account) }).toEqual({ code: stderr ? 1 : 3, leads: [] });
    if (stderr.includes("npm run")) words = pasted(stderr);
  }
  const run = async () => {
    const { code, stdout, stderr } = await program([...words, ...options, "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout);
  };
  const { leftOut, imported, rejected } = await run();
  expect({ leftOut, imported, rejected }).toEqual({ leftOut: lost, imported: stored.length, rejected: 0 });
  const leads = await storedLeads(account);
  const times = { createdAt: expect.any(String), updatedAt: expect.any(String) };
  const defaults = { score: 0, status: "new", tags: [], ...times };
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  const expected = stored.map((lead) => ({ name: "", id: expect.any(String), ...defaults, ...lead }));
  expect(leads.toSorted(byName)).toEqual(expected.sort(byName));
  expect(await run()).toMatchObject({ imported: 0, present: stored.length });
  expect(await storedLeads(account)).toEqual(leads);
});
