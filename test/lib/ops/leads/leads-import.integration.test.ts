import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFile, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ulid } from "ulid";
import { describe, expect, test } from "vitest";
import { issueApiKey } from "../../../../lib/ops/keys/api-key-changes.ts";
import { leadKey } from "../../../../shared/dynamodb/keys.ts";
import { readItem } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import { filePath, leadFile, readLines, storedLeads } from "../../../support/lead-files.ts";
import { createDataDirectory, ops } from "../../../support/ops.ts";
import { aLead } from "../../../support/requests.ts";

const dataDirectory = await createDataDirectory();

async function importFile(account: string, path: string, ...options: string[]) {
  const args = ["leads", "import", path, "--account", account, "--local", "--json", ...options];
  const { code, stdout, stderr } = await ops(args, { dataDirectory });
  return { code, stderr, report: stdout ? JSON.parse(stdout) : undefined };
}

/** A new account: it has a key. */
async function anAccount() {
  const account = randomUUID();
  await issueApiKey(account);
  return account;
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

describe("leads import", () => {
  test("stores rows as leads in every list, in the order of the file", async () => {
    const before = Date.now();
    const { account, code, report, leads, stderr } = await imported(
      "name,email,source,tags\nAda,ada@example.com,web,vip;hot\nGrace,,,\n",
    );
    expect({ code, stderr, report }).toEqual({
      ...{ code: 0, stderr: "" },
      report: { account, rows: 2, imported: 2, present: 0, erased: 0, rejected: 0 },
    });
    const defaults = { id: expect.stringMatching(/^lead_/), score: 0, status: "new" };
    const createdAt = leads[0]?.createdAt ?? "";
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
    const ada = { name: "Ada", email: "ada@example.com", source: "web", tags: ["vip", "hot"] };
    expect(leads).toEqual([
      { ...defaults, ...ada, createdAt },
      { ...defaults, name: "Grace", tags: [], createdAt },
    ]);
    const { body } = await call("list-leads", { account, query: "status=new&source=web" });
    expect(body.data).toEqual([leads[0]]);
    expect((await call("list-leads", { account })).body.data).toEqual(leads.toReversed());
  });

  test("stores sources in lower case", async () => {
    const { leads, report } = await imported("name,source\nAda,LinkedIn\nGrace,linkedin\nMary,LinkedIn\n");
    expect(leads.map(({ source }) => source)).toEqual(["linkedin", "linkedin", "linkedin"]);
    const { body } = await call("list-leads", { account: report.account, query: "source=LinkedIn" });
    expect(body.pagination.total).toBe(3);
  });

  test("marks its leads, so that no event is sent for them", async () => {
    const { account, leads } = await imported("name\nAda\n");
    expect(await readItem(leadKey(account, leads[0]?.id ?? ""))).toMatchObject({
      name: "Ada",
      imported: expect.any(String),
    });
  });

  test("keeps the time, status and score of a row", async () => {
    const { leads } = await imported(
      'name,status,score,createdAt\nLate,booked,100,2024-02-29T12:00:00.5+01:00\nEarly,,"7",2020-01-01T00:00:00Z\n',
    );
    expect(leads).toMatchObject([
      { name: "Early", status: "new", score: 7, createdAt: "2020-01-01T00:00:00.000Z" },
      { name: "Late", status: "booked", score: 100, createdAt: "2024-02-29T11:00:00.500Z" },
    ]);
  });

  test("reads quotes, CRLF, a byte order mark, blank lines and a last line without an end", async () => {
    const { report, rejects, leads } = await imported(
      '\uFEFFname,tags\r\n"Ada ""the first"", Lovelace",é;☎\r\n\r\n"=Grace","[""a;b"",""c""]"\nNo end, b;c ',
    );
    expect({ report, rejects }).toMatchObject({ report: { rows: 3, imported: 3 }, rejects: [] });
    expect(leads).toMatchObject([
      { name: 'Ada "the first", Lovelace', tags: ["é", "☎"] },
      { name: "=Grace", tags: ["a;b", "c"] },
      { name: "No end", tags: [" b", "c "] },
    ]);
  });

  test("reports why rows are invalid, with their first lines, and imports the others", async () => {
    const long = "x".repeat(201);
    const future = new Date(Date.now() + 60_000).toISOString();
    const rows = [
      ...["Good,,,,", '"two\r\nlines",,,,', ",,,,", `${long},,,,`, "Mail,no address,,,"],
      ...["Tags,,a;;b,,", "Json,,[1,,", "Few,,", "Many,,,,,", "Status,,,lost,", "Score,,,,101"],
      ...["Bad \xff UTF-8,,,,", "Good too,,,,"],
    ];
    const csv = Buffer.from(`name,email,tags,status,score\n${rows.join("\n")}\n`, "latin1");
    const { code, report, rejects, leads } = await imported(csv);
    expect({ code, report }).toMatchObject({ code: 3, report: { rows: 13, imported: 2, rejected: 11 } });
    expect(leads.map(({ name }) => name)).toEqual(["Good", "Good too"]);
    expect(rejects).toMatchObject([
      ...[inLine(3, "name", "invalid_characters"), inLine(5, "name", "required")],
      ...[inLine(6, "name", "too_long"), inLine(7, "email", "invalid_format")],
      ...[inLine(8, "tags[1]", "too_short"), inLine(9, "tags", "wrong_type")],
      ...[inLine(10, "", "wrong_columns"), inLine(11, "", "wrong_columns")],
      ...[inLine(12, "status", "not_allowed"), inLine(13, "score", "out_of_range")],
      inLine(14, "name", "invalid_encoding"),
    ]);
    expect(rejects[3].row).toEqual({ name: "Mail", email: "no address" });
    expect((await stat(report.rejects)).mode & 0o777).toBe(0o600);
    const times = await imported(
      `name,createdAt\na,${future}\nb,2026-02-30T00:00:00Z\nc,2026-01-01\nd,1969-12-31T23:59:59Z\n`,
    );
    const codes = ["out_of_range", "invalid_format", "invalid_format", "out_of_range"];
    expect(times.rejects).toMatchObject(codes.map((fault, i) => inLine(i + 2, "createdAt", fault)));
  });

  test("reads JSON lines as the API reads a body", async () => {
    const rows = [
      ...['{"name":"Ada","tags":["a;b"],"score":5}', "", "{", "[]", '{"name":"a","nmae":1,"score":"5"}'],
      ...[
        '{"name":null}',
        '{"name":"a","name":"b"}',
        `{"name":"${"x".repeat(300_000)}"}`,
        '{"name":"\xff"}',
        "[".repeat(30_000) + "]".repeat(30_000),
        '{"name":"Last"}',
      ],
    ];
    const { code, rejects, leads } = await imported(Buffer.from(rows.join("\r\n"), "latin1"), ".jsonl");
    expect(code).toBe(3);
    expect(leads).toMatchObject([{ name: "Ada", tags: ["a;b"], score: 5 }, { name: "Last" }]);
    const both = [
      { field: "nmae", code: "unknown", message: "is not a field of a lead" },
      { field: "score", code: "out_of_range", message: "must be a whole number from 0 to 100" },
    ];
    expect(rejects).toMatchObject([
      ...[inLine(3, "", "invalid_json"), inLine(4, "", "wrong_type"), { line: 5, errors: both }],
      ...[inLine(6, "name", "wrong_type"), inLine(7, "name", "duplicate_key")],
      ...[inLine(8, "", "too_large"), inLine(9, "", "invalid_encoding"), inLine(10, "", "too_deep")],
    ]);
  });

  test.each([
    ["an empty .csv", "", /The file is empty: its first row must name the columns/],
    ["an empty .jsonl", "", /The file is empty\./],
    ["an unknown column of a .csv", "name,phone\nAda,1\n", /Unknown column "phone": the columns are id, /],
    ["a repeated column of a .csv", "name,tags,name\nAda,,\n", /The column name occurs twice/],
    ["a missing name column of a .csv", "email\na@example.com\n", /The column name is missing/],
    [
      "an open quote in a .csv",
      'name\nAda\n"Grace\n',
      /that starts on line 3 has a quote that is not closed/,
    ],
    ["a quote inside a cell of a .csv", 'name\nAda\n5" pipe\n', /line 3 has a misplaced quote/],
    ["text after a quote in a .csv", 'name\n"a"b\n', /line 2 has a misplaced quote/],
    ["a row that is too long in a .csv", `name\nAda\n${"x".repeat(300_000)}\n`, /line 3 is over 65536 bytes/],
    ["another extension, .txt", "name\nAda\n", /must end in \.csv or \.jsonl/],
  ])("rejects %s before it writes anything", async (what, content, sentence) => {
    const ending = /\.\w+$/.exec(what)?.[0];
    const { code, report, stderr, leads } = await imported(content, ending);
    expect({ code, report, leads }).toEqual({ code: 1, report: undefined, leads: [] });
    expect(stderr).toMatch(sentence);
    expect(stderr.trim()).not.toContain("\n");
  });

  test("rejects a missing file, a directory, and a rejects path that is the imported file", async () => {
    const path = filePath(".csv");
    expect(await importFile("a", path)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot be read \(ENOENT\)/),
    });
    await mkdir(path);
    expect(await importFile("a", path)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not a file/),
    });
    const file = await leadFile("name\n\n");
    const rejects = join(file, "..", ".", file.slice(file.lastIndexOf("/") + 1));
    const refused = await importFile("a", file, "--rejects", rejects);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/--rejects names the imported file/),
    });
  });

  test("--dry-run reports what an import would do, and writes nothing", async () => {
    const account = randomUUID();
    const path = await leadFile("name,email\nAda,\nGrace,no\n");
    const args = ["leads", "import", path, "--account", account, "--dry-run"];
    const { code, stdout } = await ops(args, { dataDirectory: "/nowhere" });
    expect({ code, stdout }).toEqual({
      code: 3,
      stdout: `2 rows: 1 valid, 1 invalid. See ${path}.rejected.jsonl.\n`,
    });
    expect(await readLines(`${path}.rejected.jsonl`)).toMatchObject([inLine(3, "email", "invalid_format")]);
    expect(await storedLeads(account)).toEqual([]);
  });
});

test("leads import into an account that does not exist is refused", async () => {
  const account = randomUUID();
  const { code, stderr } = await importFile(account, await leadFile("name\nAda\n"));
  expect(code).toBe(1);
  expect(stderr).toMatch(/^There is no account /);
  expect(await storedLeads(account)).toEqual([]);
});

describe("a repeated leads import", () => {
  test("adds and changes nothing; a changed file is a new import", async () => {
    const { account, path, leads } = await imported("name,createdAt\nAda,\nAda,2020-01-01T00:00:00Z\n");
    const lead = `${leads[0]?.id}`;
    const change = ["leads", "set-score", "--account", account, "--local", "--lead", lead, "--score", "9"];
    expect((await ops(change, { dataDirectory })).code).toBe(0);
    const changed = leads.with(0, { ...leads[0], score: 9 } as (typeof leads)[0]);
    expect((await importFile(account, path)).report).toMatchObject({ imported: 0, present: 2 });
    expect(await storedLeads(account)).toEqual(changed);
    await appendFile(path, "Grace,\n");
    expect((await importFile(account, path)).report).toMatchObject({ imported: 3, present: 0 });
    expect(await storedLeads(account)).toHaveLength(5);
  });

  test("stores the same file in another account", async () => {
    const { path, leads } = await imported("name\nAda\n");
    const other = await anAccount();
    expect((await importFile(other, path)).report).toMatchObject({ imported: 1 });
    expect((await storedLeads(other))[0]?.id).not.toBe(leads[0]?.id);
  });

  test("continues after kill -9 and stores each row once", async () => {
    const account = await anAccount();
    const names = Array.from({ length: 800 }, (_, i) => `Lead ${i}`);
    const path = await leadFile(`name\n${names.join("\n")}\n`);
    const { TABLE_NAME, ...env } = process.env;
    const args = ["bin/ops.ts", "leads", "import", path, "--account", account, "--local", "--rate", "500"];
    const child = spawn(process.execPath, args, { env: { ...env, DATA_DIR: dataDirectory } });
    const ended = once(child, "exit");
    while ((await storedLeads(account)).length < 100 && child.exitCode === null) await setTimeout(20);
    child.kill("SIGKILL");
    expect(await ended).toEqual([null, "SIGKILL"]);
    const stored = (await storedLeads(account)).length;
    expect(stored).toBeLessThan(names.length);

    const { report } = await importFile(account, path, "--rate", "100000");
    expect(report).toMatchObject({ rows: 800, imported: 800 - report.present, rejected: 0 });
    // The database may have executed requests that were under way when the process ended.
    expect(report.present).toBeGreaterThanOrEqual(stored);
    expect((await storedLeads(account)).map(({ name }) => name)).toEqual(names);
  });

  test("stores each row once when it runs twice concurrently", async () => {
    const account = await anAccount();
    const names = Array.from({ length: 150 }, (_, i) => `Lead ${i}`);
    const path = await leadFile(`name\n${names.join("\n")}\n`);
    const both = await Promise.all([importFile(account, path), importFile(account, path)]);
    expect(both[0].report.imported + both[1].report.imported).toBe(150);
    expect((await storedLeads(account)).map(({ name }) => name)).toEqual(names);
  });

  test("stores one of two rows with the same id", async () => {
    const account = await anAccount();
    const id = `lead_${ulid()}`;
    const path = await leadFile(`id,name\n${id},Ada\n${id},Grace\n`);
    expect((await importFile(account, path)).report).toMatchObject({ imported: 1, present: 1 });
  });

  test("keeps the ids of rows, whose time must be the creation time", async () => {
    const account = randomUUID();
    const lead = await aLead(account);
    const row = (change: object) => `${JSON.stringify({ ...lead, ...change })}\n`;
    const later = new Date(Date.parse(lead.createdAt) + 1).toISOString();
    const path = await leadFile(
      row({}) +
        row({ createdAt: later }) +
        row({ id: "lead_1" }) +
        row({ id: `lead_7${"Z".repeat(25)}`, createdAt: undefined }),
      ".jsonl",
    );
    const { report } = await importFile(account, path);
    expect(report).toMatchObject({ imported: 0, present: 1, rejected: 3 });
    expect(await readLines(report.rejects)).toMatchObject([
      ...[inLine(2, "createdAt", "not_allowed"), inLine(3, "id", "invalid_format")],
      inLine(4, "id", "out_of_range"),
    ]);
  });
});
