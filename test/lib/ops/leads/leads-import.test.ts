import { randomUUID } from "node:crypto";
import { appendFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { InternalServerError } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test, vi } from "vitest";
import { beginErasure } from "../../../../lib/ops/erasure/erased-leads.ts";
import { columns } from "../../../../lib/ops/leads/file/column-names.ts";
import { importCommand } from "../../../../lib/ops/leads/leads-import.ts";
import { createOrUpdateLead } from "../../../../shared/domain/create-lead.ts";
import { leadKey } from "../../../../shared/dynamodb/keys.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { readItem, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../../../support/cases/skipped-waits.ts";
import { anAccount, leadFile, readLines, storedLeads } from "../../../support/commands/lead-files.ts";
import { call } from "../../../support/requests/call.ts";
import { aLead } from "../../../support/requests/requests.ts";
import { aroundCalls, beforeCall, type TableCommand } from "../../../support/tables/conditions.ts";
import { useTablesOfCommands } from "../../../support/tables/memory-tables.ts";
import { program } from "../support/program.ts";

useTablesOfCommands();

const run = (account: string, path: string, ...options: string[]) =>
  program(["leads", "import", path, "--account", account, "--table", tableName, ...options]);

async function importFile(account: string, path: string, ...options: string[]) {
  const { code, stdout, stderr } = await run(account, path, "--json", ...options);
  return { code, stderr, report: stdout ? JSON.parse(stdout) : undefined };
}

/** Imports a file's content into a new account. */
async function imported(content: string | Buffer, ending = ".csv") {
  const account = await anAccount();
  const path = await leadFile(content, ending);
  const outcome = await importFile(account, path);
  const rejects = outcome.report?.rejects ? await readLines(outcome.report.rejects) : [];
  return { ...outcome, account, path, rejects, leads: await storedLeads(account) };
}

const inLine = (line: number, field: string, code: string) => ({
  line,
  errors: [expect.objectContaining({ field, code })],
});

test("a row whose response was lost counts as imported when the retry finds its lead", async () => {
  let lost = 1;
  using _drop = aroundCalls(async (command, send) => {
    const output = await send(command);
    const isOfRow = JSON.stringify(command.input).includes("LEAD#");
    if (command instanceof TransactWriteCommand && isOfRow && lost-- > 0)
      throw new InternalServerError({ message: "lost", $metadata: { httpStatusCode: 500 } });
    return output;
  });
  const { report, leads } = await imported("name,email\nAda,ada@example.com\n");
  expect([report.imported, report.present, leads.length, lost]).toEqual([1, 0, 1, 0]);
});

describe("leads import", () => {
  test("stores rows as leads in every list, in the order of the file, and marks them as imported", async () => {
    const before = Date.now();
    const importId = expect.stringMatching(/^import_/);
    const { account, code, report, leads, stderr } = await imported(
      "name,email,source,tags\nAda,ada@example.com,Web,vip;hot\nGrace,,,\n",
    );
    expect({ code, stderr, report }).toEqual({
      ...{ code: 0, stderr: "" },
      report: { account, importId, rows: 2, imported: 2, present: 0, erased: 0, rejected: 0 },
    });
    const updatedAt = expect.toSatisfy((time: string) => Date.parse(time) >= before);
    const defaults = { id: expect.stringMatching(/^lead_/), score: 0, status: "new", updatedAt };
    const times = leads.map(({ createdAt }) => Date.parse(createdAt));
    expect(times).toEqual([expect.any(Number), Number(times[0]) + 1]);
    expect(times[1]).toBeGreaterThanOrEqual(before);
    expect(times[1]).toBeLessThanOrEqual(Date.now());
    const ada = { name: "Ada", email: "ada@example.com", source: "web", tags: ["vip", "hot"] };
    expect(leads).toEqual([
      { ...defaults, ...ada, createdAt: expect.any(String) },
      { ...defaults, name: "Grace", tags: [], createdAt: expect.any(String) },
    ]);
    const { body } = await call("list-leads", { account, query: "status=new&source=Web" });
    expect(body.data).toEqual([leads[0]]);
    expect((await call("list-leads", { account })).body.data).toEqual(leads.toReversed());
    const item = await readItem(leadKey(account, leads[0]?.id ?? ""));
    expect(item).toMatchObject({ imported: expect.any(String) });
  });

  test("reports why rows are invalid, with their first lines, and imports the others", async () => {
    const rows = [
      "Good,,",
      '"two\r\nlines",,',
      ",,",
      "Mail,no address,",
      "Tags,,a;\tb\u0001",
      "Many,a@b.de,c,x",
      "Good too,,",
    ];
    const csv = `name,email,tags\n${rows.join("\n")}\n`;
    const { code, report, rejects, leads } = await imported(csv);
    expect({ code, report }).toMatchObject({ code: 3, report: { rows: 6, imported: 2, rejected: 4 } });
    expect(leads.map(({ name }) => name)).toEqual(["Good", "Good too"]);
    expect(rejects).toMatchObject([
      ...[inLine(3, "name", "invalid_characters"), inLine(6, "email", "invalid_format")],
      ...[inLine(7, "tags[1]", "invalid_characters"), inLine(8, "", "wrong_columns")],
    ]);
    expect(rejects[3]).toMatchObject({
      errors: [{ message: "must have 3 cells like the header, but has 4" }],
      row: { cells: ["Many", "a@b.de", "c", "x"] },
    });
    expect(rejects[1].row).toEqual({ name: "Mail", email: "no address" });
  });

  test.each([
    ["an empty .csv", "", /The file is empty: its first row must name the columns/],
    [
      "a header, with all that is wrong in it,",
      "Имя,E-Mail,,name,Name,Phone No,metadata,metadata.a\nAda,,,,,,,\n",
      `Nothing is stored, because of faults in the header:
  1. "Имя" is unknown
  2. "E-Mail" is email
  3. "" is unknown
  4. "name" is known
  5. "Name" also means name, like column 4: rename one in the file, or --map it
  6. "Phone No" is addresses.phone
  7. "metadata" is known
  8. "metadata.a" conflicts with the column metadata: remove one of them
To keep or leave out the other columns, add --ignore-others
The columns are ${columns.join(", ")} or metadata.<name> in place of metadata, or addresses.<channel> in place of addresses.`,
    ],
    [
      "a header without names",
      "prénom,email\nJosé,a@b.de\n",
      `Nothing is stored, because of faults in the header:
  1. "prénom" is unknown
  2. "email" is known
The column name is missing: with --map "<name>=name", another column takes its place, or several are joined.
To keep or leave out the other columns, add --map 'prénom=metadata.prénom'
The columns are ${columns.join(", ")} or metadata.<name> in place of metadata, or addresses.<channel> in place of addresses.`,
    ],
    [
      "text that is not in UTF-8",
      Buffer.from("name\nJos\xe9\n", "latin1"),
      /is not utf-8 text. Save it as CSV in UTF-8, or name its encoding, such as --encoding windows-1252/,
    ],
    [
      "half a character of UTF-16",
      Buffer.from("\uFEFFname\nJosé\n", "utf16le").subarray(0, -1),
      /is not utf-16le text/,
    ],
    ["no array in a .json", '{"name":"Ada"}', /must have an array of objects/],
    ["an inexact number in a .json", '[{"externalId":12345678901234567890}]', /too large to be read exactly/],
    ["an open quote in a .csv", 'name\nAda\n"Grace\n', /starts on line 3 has a misplaced or unclosed quote/],
    ["text after a quote in a .csv", 'name\n"a"b\n', /line 2 has a misplaced or unclosed quote/],
    ["a spreadsheet, .xlsx", Buffer.from("504b0304ff", "hex"), /is not utf-8 text. Save it as CSV in UTF-8/],
  ] satisfies [
    string,
    string | Buffer,
    string | RegExp,
  ][])("rejects %s before it writes anything", async (what, content, sentence) => {
    const ending = /\.\w+$/.exec(what)?.[0];
    const { code, report, stderr, leads } = await imported(content, ending);
    expect({ code, report, leads }).toEqual({ code: 1, report: undefined, leads: [] });
    if (typeof sentence === "string") return expect(stderr).toBe(`${sentence}\n`);
    expect(stderr).toMatch(sentence);
    expect(stderr.trim()).not.toContain("\n");
  });

  test("--dry-run reports what an import would do, needs no table, and writes nothing", async () => {
    const account = randomUUID();
    const path = await leadFile("name,email\nAda,\n,a@example.com\nGrace,no\nBob,no\n");
    expect(await program(["leads", "import", path, "--account", account, "--dry-run"])).toMatchObject({
      code: 3,
      stdout: `{"name":"Ada","score":0,"status":"new","tags":[]}
4 rows: 1 valid, 3 rejected.
  2 rows, first line 4: email must have an @.
  Line 3: name is required.
`,
    });
    expect((await readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.`))).toEqual(
      [],
    );
    expect(await storedLeads(account)).toEqual([]);
  });
});

test("--units limits the rows per second, and at most 32 are written concurrently", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  using _waits = skipWaits((milliseconds) => vi.setSystemTime(Date.now() + milliseconds));
  let [concurrent, most] = [0, 0];
  using _calls = aroundCalls(async (command, send) => {
    if (!(command instanceof TransactWriteCommand)) return send(command);
    most = Math.max(most, ++concurrent);
    await new Promise(setImmediate);
    concurrent -= 1;
    return send(command);
  });
  const account = await anAccount();
  const start = Date.now();
  // A row uses one write unit, which counts as three units.
  await importFile(account, await leadFile(`name\n${"Ada\n".repeat(70)}`), "--units", "300");
  expect(Date.now() - start).toBeGreaterThan(450);
  await importFile(account, await leadFile(`name\n${"Bob\n".repeat(200)}`), "--units", "1000000");
  expect(most).toBe(32);
});

test("Ctrl-C says what is stored, and how to go on", async () => {
  using _ = aroundCalls(async (command, send) => {
    if (JSON.stringify(command.input).includes('"name":"Bob"')) process.emit("SIGINT", "SIGINT");
    return send(command);
  });
  const path = await leadFile("name\nAda\nBob\n");
  const { code, stderr } = await importFile(await anAccount(), path);
  expect(code).toBe(130);
  expect(stderr).toMatch(
    /^Stopped\. [01] rows are stored, new ones as import_\w+\. Run the same command again to continue\.\n/,
  );
});

test.each([
  ["AccessDeniedException", "AWS cannot be used \\(AccessDeniedException: No\\.\\): .*\\.", "\n"],
  // A bug is printed with its stack.
  ["TypeError", "No\\.", "\n    at "],
])("a failure with %s says what is stored, and how to go on", async (name, reason, end) => {
  using _ = aroundCalls(async (command, send) => {
    if (!JSON.stringify(command.input).includes('"name":"Bob"')) return send(command);
    throw Object.assign(new Error("No."), { name });
  });
  const { code, stderr, report } = await importFile(await anAccount(), await leadFile("name\nBob\n"));
  expect({ code, report }).toEqual({ code: 1, report: undefined });
  expect(stderr).toMatch(
    new RegExp(
      `Stopped after 0 rows, new ones as import_\\w+: ${reason} Run the same command again to continue\\.${end}`,
    ),
  );
});

test("each import has its own file of rejected rows, which only its owner can read", async () => {
  const account = await anAccount();
  const path = await leadFile("name,email\nAda,no\nBob,\n");
  const { rejects } = (await importFile(account, path)).report;
  expect((await stat(rejects)).mode & 0o777).toBe(0o600);
  await writeFile(rejects, "corrected");
  const { report } = await importFile(account, path);
  expect(await readFile(rejects, "utf8")).toBe("corrected");
  expect(await readLines(report.rejects)).toMatchObject([{ line: 2 }]);
});

describe("a repeated leads import", () => {
  test("adds only new rows and changes no lead, but imports all rows into another account", async () => {
    const { account, path, leads } = await imported("name,createdAt\nAda,\nAda,2020-01-01T00:00:00Z\n");
    const { record } = await createOrUpdateLead(account, { id: `${leads[0]?.id}`, score: 9 });
    const changed = leads.with(0, record);
    expect((await importFile(account, path)).report).toMatchObject({ imported: 0, present: 2 });
    expect(await storedLeads(account)).toEqual(changed);
    const other = await anAccount();
    expect((await importFile(other, path)).report).toMatchObject({ imported: 2 });
    expect((await storedLeads(other)).map(({ id }) => id)).not.toContain(leads[1]?.id);
    const inOtherOrder = await leadFile("createdAt,name\n,Ada\n2020-01-01T00:00:00Z,Ada\n,Grace\n");
    expect((await importFile(account, inOtherOrder)).report).toMatchObject({ imported: 1, present: 2 });
    expect((await storedLeads(account)).map(({ name }) => name)).toEqual(["Ada", "Ada", "Grace"]);
  });

  test.each([
    "one file",
    "two files with the same rows, one of them in another order",
    "two files with the same external ids",
    "two files with the same addresses",
  ])("stores each row once when it runs twice concurrently, with %s", async (files) => {
    const account = await anAccount();
    const names = Array.from({ length: 32 }, (_, i) => `Lead ${i}`);
    const column = files.endsWith("addresses") ? "addresses.sms" : "externalId";
    const isNamed = /external ids|addresses/.test(files);
    const rows = names.map((name, i) => `${name},${isNamed ? `crm-${i}` : ""}`);
    const write = (lines: readonly string[]) => leadFile(`name,${column}\n${lines.join("\n")}\n`);
    const path = await write(rows);
    // Both runs read all rows before one of them writes.
    const areRead = Promise.withResolvers<void>();
    let writes = 0;
    using _ = aroundCalls(async (command, send) => {
      if (command instanceof TransactWriteCommand && ++writes === 2 * names.length) areRead.resolve();
      if (command instanceof TransactWriteCommand) await areRead.promise;
      return send(command);
    });
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    const start = (file: string) => {
      const args = [file, "--account", account, "--table", tableName, "--json"];
      return importCommand().parseAsync(args, { from: "user" });
    };
    await Promise.all([start(path), start(files === "one file" ? path : await write(rows.toReversed()))]);
    const reports = log.mock.calls.map(([text]) => JSON.parse(text));
    log.mockRestore();
    expect(reports.map(({ imported, present }) => imported + present)).toEqual([32, 32]);
    expect(reports[0].imported + reports[1].imported).toBe(32);
    expect((await storedLeads(account)).map(({ name }) => name).sort()).toEqual(names.toSorted());
  });

  test("finds a row that another import has stored after its record was read, and before its address", async () => {
    const account = await anAccount();
    const path = await leadFile("name,addresses.sms\nAda,1\n");
    const isOfAddress = ({ input }: TableCommand) =>
      "Key" in input && input.Key.pk.startsWith(`ADDRESS#${account}`);
    using _ = beforeCall(isOfAddress, () => importFile(account, path));
    expect((await importFile(account, path)).report).toMatchObject({ present: 1, rejected: 0 });
  });

  test("of the same rows with other columns creates no other leads, and reports what differs", async () => {
    const account = await anAccount();
    const path = await leadFile(
      "Name,Email Address,Lead Source,Tag,Creation Date\nKim Lee,kim@example.com,Fair,vip,2024-01-15T00:00:00Z\nBo,,Web,,2024-01-16T00:00:00Z\n",
    );
    const asOther = ["Email Address", "Lead Source", "Tag", "Creation Date"].flatMap((name) => [
      ...["--map", `${name}=metadata.${name}`],
    ]);
    expect((await importFile(account, path, ...asOther)).report).toMatchObject({ imported: 2 });
    const email = ["--map", "Email Address=email", ...asOther.slice(2)];
    expect((await importFile(account, path, ...email)).report).toMatchObject({
      ...{ imported: 0, present: 2, different: 1 },
    });
    const stored = await storedLeads(account);
    expect(await run(account, path)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        "2 rows are stored with other values: --update changes all but createdAt.",
      ),
    });
    expect(await storedLeads(account)).toEqual(stored);
    expect((await importFile(account, path, "--update")).report).toMatchObject({ imported: 0, updated: 2 });
    const { report } = await importFile(account, path, "--update");
    expect(report).toMatchObject({ imported: 0, updated: 0, present: 2, different: 2 });
    expect(await storedLeads(account)).toMatchObject([
      { id: stored[0]?.id, name: "Kim Lee", email: "kim@example.com", source: "fair", tags: ["vip"] },
      { id: stored[1]?.id, name: "Bo", source: "web" },
    ]);
  });

  test("says which leads an undo of it takes back", async () => {
    const { account, path } = await imported("name\nAda\nBob\n");
    await appendFile(path, "Grace\n");
    expect((await run(account, path)).stdout.trim().split("\n")).toEqual([
      "3 rows: 1 imported, 2 present, 0 erased, 0 rejected.",
      "Totals include leads with an earlier date within seconds.",
      expect.stringMatching(/^This is the import import_\w+: --undo takes what it imported back\.$/),
    ]);
    expect((await run(account, path)).stdout).toBe("3 rows: 0 imported, 3 present, 0 erased, 0 rejected.\n");
  });

  test("of a row that differs only in ignored columns, or in the columns of its cells, creates another lead", async () => {
    const account = await anAccount();
    for (const row of ["Kim Lee,+49 1", "Kim Lee,+82 2", "+82 2,Kim Lee"]) {
      const path = await leadFile(`name,fax\n${row}\n`);
      expect((await importFile(account, path, "--ignore-others")).report).toMatchObject({
        ...{ imported: 1, present: 0, leftOut: ["fax"] },
      });
    }
    expect(await storedLeads(account)).toHaveLength(3);
  });

  test("accepts the corrected file of rejected rows, unless cells still have no columns", async () => {
    const { account, report } = await imported("name,email,metadata.plan\nAda,no address,'=pro\nBo\n");
    const text = await readFile(report.rejects, "utf8");
    await writeFile(report.rejects, text.replace("no address", "a@b.de"));
    const { code, stderr } = await importFile(account, report.rejects);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"cells" is unknown'),
    });
    await writeFile(
      report.rejects,
      text.replace('{"cells":["Bo"]}', '{"name":"Bo"}').replace("no address", "a@b.de"),
    );
    expect((await importFile(account, report.rejects)).report).toMatchObject({ imported: 2, rejected: 0 });
    const ada = { name: "Ada", email: "a@b.de", metadata: { plan: "=pro" } };
    expect(await storedLeads(account)).toMatchObject([ada, { name: "Bo" }]);
  });

  test("maps one column to two fields, but refuses two columns for a field that cannot join them", async () => {
    const account = await anAccount();
    const path = await leadFile("email,other\na@b.de,c@d.de\n");
    const both = ["--map", "EMAIL=name", "--map", "email=email"];
    expect(await importFile(account, path, ...both, "--map", "other=email")).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('2. "other" also means email, like column 1') },
    });
    await importFile(account, path, ...both, "--ignore-others");
    expect(await storedLeads(account)).toMatchObject([{ name: "a@b.de", email: "a@b.de" }]);
  });

  test("finds leads by their external ids, and the external id of an erased lead can be used again", async () => {
    const csv = "externalId,name,metadata.plan\ncrm-1,Ada,pro\ncrm-2,Grace,\n";
    const { account, leads } = await imported(csv);
    const [ada] = leads;
    expect(ada).toMatchObject({ externalId: "crm-1", metadata: { plan: "pro" } });
    const mended = await leadFile(`${csv}crm-3,Mary,\n`);
    expect((await importFile(account, mended)).report).toMatchObject({ imported: 1, present: 2 });
    expect((await storedLeads(account)).map(({ name }) => name)).toEqual(["Ada", "Grace", "Mary"]);
    await beginErasure(account, `${ada?.id}`, new Pace());
    using _ = skipWaits();
    const other = await leadFile(csv.replace("Ada", "Ada Lovelace"));
    expect((await importFile(account, other)).report).toMatchObject({ imported: 1, present: 1 });
    const renamed = (await storedLeads(account)).filter(({ externalId }) => externalId === "crm-1");
    expect(renamed).toMatchObject([{ name: "Ada Lovelace", id: expect.not.stringMatching(`${ada?.id}`) }]);
  });

  test("finds leads by their addresses, and rejects a row with an address of another row or another lead", async () => {
    const account = await anAccount();
    const other = await aLead(account, { addresses: { whatsapp: ["+49 177 1"] } });
    const ada = { whatsapp: ["+49 30 1", "+49 30 2"], instagram: ["ada"] };
    const path = await leadFile(
      [
        "name,createdAt,addresses.WhatsApp,addresses.instagram",
        `Ada,2020-01-01T00:00:00Z,'${ada.whatsapp.join(";")},ada`,
        "Bob,,(49) 30 1,",
        "Eve,,49-177-1,",
        "",
      ].join("\n"),
    );
    const { report } = await importFile(account, path);
    expect(report).toMatchObject({ imported: 1, present: 0, rejected: 2 });
    const ofOther = `This account has a lead with the address whatsapp:491771: ${other.id}. To change it, send ifExists=update.`;
    expect(await readLines(report.rejects)).toMatchObject([
      { line: 3, errors: [{ field: "", message: "names the lead of line 2" }] },
      { line: 4, errors: [{ message: `is not stored: ${ofOther}` }] },
    ]);
    const stored = await storedLeads(account);
    expect(stored).toEqual([expect.objectContaining({ name: "Ada", addresses: ada }), other]);
    expect(String(stored[0]?.updatedAt) > other.updatedAt).toBe(true);
    const query = "address=whatsapp:%2B49302,Instagram:ada";
    expect((await call("list-leads", { account, query })).body.data).toEqual([stored[0]]);
    expect((await importFile(account, path)).report).toMatchObject({ imported: 0, present: 1, rejected: 2 });
    expect(await storedLeads(account)).toEqual(stored);
  });

  test("with --update changes leads by their external ids: empty cells change nothing, and rows that do not fit are rejected", async () => {
    const { account, leads } = await imported(
      "externalId,name,email,source,tags,metadata.plan\ncrm-1,Ada,ada@example.com,web,vip,pro\ncrm-2,Grace,,,,\n",
    );
    const [ada, grace] = leads;
    const other = await aLead(account, { externalId: "crm-9" });
    const path = await leadFile(
      [
        "externalId,id,name,email,status,score,source,tags,metadata.since,metadata.more",
        `crm-1,,,ADA@example.com,booked,9,Fair,hot,2026,`,
        `crm-2,,Grace,,,,,,,`,
        `crm-3,,Mary,,,,,,,`,
        `crm-4,,,,,,,,,`,
        `crm-5,${other.id},Eve,,,,,,,`,
        "",
      ].join("\n"),
    );
    const { code, report } = await importFile(account, path, "--update");
    expect({ code, report }).toMatchObject({
      ...{ code: 3, report: { imported: 1, updated: 1, present: 1, erased: 0, rejected: 2 } },
    });
    expect((await readLines(report.rejects)).sort((a, b) => a.line - b.line)).toMatchObject([
      ...[inLine(5, "name", "required"), inLine(6, "", "not_allowed")],
    ]);
    const changed = { email: "ADA@example.com", status: "booked", score: 9, source: "fair", tags: ["hot"] };
    const metadata = { plan: "pro", since: "2026" };
    const stored = await storedLeads(account);
    expect(stored.filter(({ id }) => id === ada?.id || id === grace?.id)).toEqual([
      { ...ada, ...changed, metadata, updatedAt: expect.not.stringMatching(`${ada?.updatedAt}`) },
      grace,
    ]);
    expect(stored.find(({ externalId }) => externalId === "crm-3")).toMatchObject({ name: "Mary" });
    expect((await importFile(account, path, "--update")).report).toMatchObject({
      imported: 0,
      updated: 0,
      present: 3,
    });
    expect(await storedLeads(account)).toEqual(stored);
  });

  test("with --update finds a lead by its id, its external id or an address, and adds the other names of the row", async () => {
    const account = await anAccount();
    const { id } = await aLead(account, { addresses: { sms: ["+49 1"] } });
    const other = await aLead(account, { addresses: { web: ["eve"] } });
    const update = async (rows: string) =>
      (await importFile(account, await leadFile(rows), "--update")).report;
    const addresses = { sms: ["+49 1"], web: ["ada"] };
    for (const [rows, stored] of [
      [`id,externalId,score\n${id},crm-1,7\n`, { externalId: "crm-1", score: 7 }],
      ["addresses.sms,addresses.web\n(49)-1,ada\n", { addresses }],
      ["externalId,name\ncrm-1,Grace\n", { name: "Grace", score: 7, addresses }],
    ] as const) {
      expect(await update(rows)).toMatchObject({ imported: 0, updated: 1, rejected: 0 });
      expect(await storedLeads(account)).toContainEqual(expect.objectContaining({ id, ...stored }));
    }
    const { rejects } = await update("externalId,addresses.web\ncrm-1,eve\n");
    const message = `is not stored: The request names the lead ${id}, but the lead ${other.id} has the address web:eve.`;
    expect(await readLines(rejects)).toMatchObject([{ line: 2, errors: [{ message }] }]);
  });
});
