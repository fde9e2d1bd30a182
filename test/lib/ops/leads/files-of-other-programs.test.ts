import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { tableName } from "../../../../shared/dynamodb/table-client.ts";
import { leadFile, storedLeads } from "../../../support/lead-files.ts";
import { useTablesOfCommands } from "../../../support/memory-tables.ts";
import { program } from "../support/program.ts";

useTablesOfCommands();

const map = (...pairs: readonly string[]) => pairs.flatMap((pair) => ["--map", pair]);
const berlin = ["--time-zone", "Europe/Berlin"];

interface OtherFile {
  readonly content: string | Buffer;
  readonly ending?: string;
  /** What the first run, without options, says. Without, it stores the rows. */
  readonly first?: string;
  readonly options?: readonly string[];
  readonly stored: readonly object[];
}

const files: Readonly<Record<string, OtherFile>> = {
  HubSpot: {
    content:
      '"Record ID","First Name","Last Name","Email","Mobile Phone Number","Phone Number","Lead Status","Create Date"\r\n"501","Ida","Krüger","ida@example.com","+49 177 2","+49 30 1","NEW","2024-07-11 21:22"\r\n"502","Jon","","","","","Qualified","2024-08-18"\r\n',
    options: [
      ...map("Record ID=externalId", "First Name=name", "Last Name=name", "Lead Status=status"),
      ...map("Phone Number=addresses.whatsapp", "Mobile Phone Number=addresses.whatsapp"),
      ...map("Create Date=createdAt"),
      ...berlin,
    ],
    stored: [
      {
        ...{ externalId: "501", name: "Ida Krüger", email: "ida@example.com", status: "new" },
        ...{ addresses: { whatsapp: ["+49 30 1", "+49 177 2"] }, createdAt: "2024-07-11T19:22:00.000Z" },
      },
      { externalId: "502", name: "Jon", status: "qualified", createdAt: "2024-08-17T22:00:00.000Z" },
    ],
  },
  Zoho: {
    content:
      'Id,Lead Name,E-mail,Lead Source,Tag,Created Time\nzcrm_1,Mei Ling,mei@example.com,Web Download,"vip, hot",2024-07-11T21:22:06+05:30\nzcrm_2,Raj Nair,,NULL,,2024-07-12T00:00:00+05:30\n',
    options: [
      ...map("Id=externalId", "Lead Name=name", "Lead Source=source", "Tag=tags", "Created Time=createdAt"),
      ...["--null", "NULL", "--tags-separator", ","],
    ],
    stored: [
      {
        ...{ externalId: "zcrm_1", name: "Mei Ling", email: "mei@example.com" },
        ...{ source: "web download", tags: ["vip", "hot"] },
        createdAt: "2024-07-11T15:52:06.000Z",
      },
      { externalId: "zcrm_2", name: "Raj Nair", tags: [], createdAt: "2024-07-11T18:30:00.000Z" },
    ],
  },
  "Excel with semicolons": {
    content: "\uFEFFName;E-Mail;Source;;\r\nJürgen Groß;juergen@example.com;Messe, Köln;;\r\n;;;;\r\n",
    first: '  4. "" has no name: give it one, or leave it out with --ignore-others',
    options: ["--ignore-others"],
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
  "CR only, in UTF-16 without a mark": {
    content: Buffer.from('Name,Status\rEve,Booked\r"Two, words",\r', "utf16le"),
    stored: [
      { name: "Eve", status: "booked" },
      { name: "Two, words", status: "new" },
    ],
  },
  "Windows-1252": {
    content: Buffer.from("name,source\nJos\xe9 \x96 \x80,Caf\xe9\n", "latin1"),
    first:
      "is not utf-8 text. Save it as CSV in UTF-8, or tell its encoding, such as --encoding windows-1252.",
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

test.each(Object.entries(files))("a file of %s goes in with at most two runs", async (_name, file) => {
  const { content, ending = ".csv", first, options = [], stored } = file;
  const account = randomUUID();
  await issueApiKey(account);
  const path = await leadFile(content, ending);
  const run = (...more: readonly string[]) =>
    program(["leads", "import", path, "--account", account, "--table", tableName, ...more]);
  if (first !== undefined) {
    expect(await run()).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(first) });
    expect(await storedLeads(account)).toEqual([]);
  }
  const { code, stdout, stderr } = await run(...options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(
    `${stored.length} rows: ${stored.length} imported, 0 present, 0 erased, 0 rejected`,
  );
  const leads = await storedLeads(account);
  const times = { createdAt: expect.any(String), updatedAt: expect.any(String) };
  const defaults = { score: 0, status: "new", tags: [], ...times };
  expect(leads).toEqual(stored.map((lead) => ({ id: expect.any(String), ...defaults, ...lead })));
  expect((await run(...options)).stdout).toContain(`0 imported, ${stored.length} present`);
  expect(await storedLeads(account)).toEqual(leads);
});

test("a file is not the encoding that an option tells if it is UTF-8", async () => {
  const path = await leadFile("name\nJosé\n");
  const args = ["leads", "import", path, "--account", "a", "--dry-run", "--encoding", "latin1"];
  expect(await program(args)).toMatchObject({
    ...{ code: 1, stderr: `${path} is in UTF-8: leave out --encoding.\n` },
  });
});
