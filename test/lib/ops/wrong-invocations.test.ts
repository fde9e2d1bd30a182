import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { importCommand } from "../../../lib/ops/leads/leads-import.ts";
import { newApiKey } from "../../../shared/domain/api-key-format.ts";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { runJson } from "../../support/commands/command.ts";
import { leadFile } from "../../support/commands/lead-files.ts";
import { aLead } from "../../support/requests/requests.ts";
import { temporaryDirectory } from "../../support/stack/temporary-directory.ts";
import { copyTable, useTablesOfCommands } from "../../support/tables/memory-tables.ts";
import { tableItems } from "../../support/tables/table-items.ts";
import { program } from "./support/program.ts";

useTablesOfCommands();
skipWaits();

const { keyId } = await issueApiKey("acme", { label: "web" });
const lead = await aLead("acme", {
  email: "ada@example.com",
  externalId: "crm-1",
  addresses: { sms: ["0177 1"] },
});
const restored = copyTable();
const file = await leadFile("name\nBen\n");
const inUtf8 = await leadFile("name\nJosé\n");
const { output: imported } = await runJson(importCommand(), file, "--account", "acme");
const unknownKey = newApiKey("01JZ0000000000000000000000");
const mistyped = unknownKey.replace(/.$/, (last) => (last === "0" ? "1" : "0"));

const onTable = `--table ${tableName}`;

/** Sentences, and the command lines that fail with them. */
const mistakes: Readonly<Record<string, readonly string[]>> = {
  [`There is no account nobody in the table ${tableName}. See \`npm run ops -- accounts list ${onTable}\`, or create it with \`npm run ops -- keys issue --account nobody ${onTable}\`.`]:
    [
      "keys list",
      `keys revoke --key ${keyId}`,
      "leads export --output nobody.csv",
      `leads import ${file}`,
      "leads show --email ada@example.com",
      "leads erase --lead lead_1 --yes",
      "accounts export --output nobody.jsonl",
      "accounts erase --yes",
      "accounts set-limit --requests 5",
      "counts verify",
    ].map((line) => `${line} --account nobody ${onTable}`),
  // This table was restored without its indexes.
  [`There is no account nobody in the table ${restored}. See \`npm run ops -- accounts list --table ${restored}\`, or create it with \`npm run ops -- keys issue --account nobody --table ${restored}\`.`]:
    [`accounts export --output nobody.jsonl --account nobody --table ${restored}`],
  "The account acme has no lead lead_1.": [
    ...["show", "erase --yes"].map((line) => `leads ${line} --lead lead_1 --account acme ${onTable}`),
  ],
  "The account acme has no lead with this email address.": [
    `leads show --account acme ${onTable} --email bob@example.com`,
    `leads erase --account acme ${onTable} --email bob@example.com`,
  ],
  "Name the person: --lead ID, --email ADDRESS, --external-id ID or --address CHANNEL:ADDRESS.": [
    `leads erase --account acme ${onTable}`,
    ...["+49177", ":1", "sms:"].map((text) => `leads show --account acme ${onTable} --address ${text}`),
  ],
  [`There is no key 01JZ0000000000000000000000 in the table ${tableName}.`]: [
    `keys revoke ${onTable} --key ${unknownKey}`,
  ],
  [`The account acme has no key ${keyId.slice(0, -1)}.`]: [
    `keys revoke --account acme ${onTable} --key ${keyId.slice(0, -1)}`,
  ],
  "The checksum of this key is wrong: it has a typo, or is cut off.": [
    `keys revoke ${onTable} --key ${mistyped}`,
    `keys revoke --account acme ${onTable} --key ${unknownKey.replace("lck_", "lkc_")}`,
    `keys revoke ${onTable} --key ${unknownKey.slice(0, -1)}`,
  ],
  "The id of a key needs --account; a whole key does not.": [`keys revoke ${onTable} --key 01JZ`],
  "There is no table nowhere in the region local: check --stage or --table, and the region, which the stage's file or AWS_REGION sets.":
    [
      "keys list --account acme",
      "leads export --account acme --output nowhere.csv",
      "accounts set-limit --account acme --requests 5",
      "accounts list",
      "counts verify --account acme",
    ].map((line) => `${line} --table nowhere`),
  "nowhere.csv cannot be read (ENOENT).": [`leads import nowhere.csv --account acme ${onTable}`],
  [`${inUtf8} is in UTF-8: leave out --encoding.`]: [
    `leads import ${inUtf8} --account acme ${onTable} --encoding latin1`,
  ],
  "Name the table: --local, --stage NAME or --table NAME.": ["keys list --account acme"],
  "error: option '--stage <name>' argument 'Prod' is invalid. A stage's name has 1 to 21 lower-case letters, digits or '-', the first one a letter.":
    ["keys list --account acme --stage Prod"],
  "error: option '--table <name>' argument '../acme' is invalid. A table's name has 3 to 255 letters, digits, '_', '.' or '-'.":
    ["keys list --account acme --table ../acme"],
  "error: option '--from-table <name>' argument 'é' is invalid. A table's name has 3 to 255 letters, digits, '_', '.' or '-'.":
    [`accounts copy --account acme ${onTable} --from-table é`],
  "error: option '--local' cannot be used with option '--stage <name>'": [
    "accounts list --local --stage dev",
  ],
  "error: option '--stage <name>' cannot be used with option '--table <name>'": [
    "counts verify --account acme --stage dev --table unit",
  ],
  "error: option '--local' cannot be used with option '--table <name>'": [
    "keys revoke --key x --local --table unit",
  ],
  "error: option '--lead <id...>' cannot be used with option '--address <address>'": [
    `leads erase --account acme ${onTable} --lead lead_1 --address sms:1`,
  ],
  "error: option '--undo <import>' cannot be used with option '--time-zone <name>'": [
    `leads import --account acme ${onTable} --undo import_1 --time-zone UTC`,
  ],
  "error: required option '--account <id>' not specified": [`keys list ${onTable}`],
  "error: unknown option '--acount'\n(Did you mean --account?)": [`keys list --acount acme ${onTable}`],
  "error: unknown command 'forget'": ["keys forget --account acme"],
  "error: unknown command 'lead'\n(Did you mean leads?)": ["lead export --account acme"],
};

test.each(
  Object.entries(mistakes).flatMap(([sentence, lines]) => lines.map((line) => [line, sentence] as const)),
)("ops %s fails in one sentence", async (line, sentence) => {
  const failed = { code: 1, stdout: "", stderr: `${sentence}\n` };
  for (const options of [[], ["--json"]])
    expect(await program([...line.split(" "), ...options], { input: "yes\n" })).toEqual(failed);
});

test.each([
  [
    `keys revoke --key ${keyId}`,
    "the id of the key",
    "revoke it",
    `The key ${keyId} of the account acme has the label "web".\n`,
  ],
  [
    "leads erase --address sms:0177-1",
    "the name of the account",
    "erase 1 leads",
    `${lead.id} will be erased.\n`,
  ],
  [
    `leads import --undo ${imported.importId}`,
    "the id of the import",
    "erase those that were not changed",
    `The import ${imported.importId} has made 1 leads that are not erased.\n`,
  ],
  ["accounts erase", "the name of the account", "erase it"],
  [
    `accounts copy --from-table ${restored} --replace`,
    "the name of the account that is written (acme)",
    "replace what differs",
  ],
])("ops %s asks for %s, and changes nothing for another text or none", async (line, name, action, shown = "") => {
  const before = await tableItems();
  for (const input of ["", "yes\n"]) {
    const args = [...line.split(" "), "--account", "acme", "--table", tableName];
    const { code, stdout, stderr } = await program(args, { input });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(
      `${shown}This cannot be undone. Type ${name} to ${action}: That is not ${name}: nothing was changed. In scripts, use --yes.\n`,
    );
  }
  expect(await tableItems()).toEqual(before);
});

test("help also describes a command of a group", async () => {
  const { code, stdout } = await program(["help", "accounts", "erase"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("npm run ops -- accounts erase [options]")]);
});

const anotherRun = (rest: object) => {
  const url = "http://127.0.0.1:9";
  return JSON.stringify({ url, tableName: "t", dynamodbEndpoint: url, ...rest });
};

test.each<[text: string | undefined, sentence: RegExp]>([
  [undefined, /^There is no \/nowhere\/run\.json: is `npm start` running, with the same DATA_DIR\?$/],
  ...["{", "null", anotherRun({}), anotherRun({ dataFormat: dataFormat + 1 })].map(
    (text): [string, RegExp] => [text, /^.*run\.json is from another version: restart `npm start`\.$/],
  ),
  [anotherRun({ dataFormat }), /^The `npm start` of .*run\.json has ended: start it again\.$/],
])("--local with the run.json %j fails in one sentence", async (text, sentence) => {
  const directory = text === undefined ? "/nowhere" : await temporaryDirectory();
  if (text !== undefined) await writeFile(join(directory, "run.json"), text);
  const env = { DATA_DIR: directory };
  const { code, stdout, stderr } = await program(["keys", "list", "--account", "acme", "--local"], { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr.trim()).toMatch(sentence);
});

test("an empty DATA_DIR means the project's directory, as for `npm start`", async () => {
  const args = ["keys", "list", "--account", "acme", "--local"];
  const { stdout, stderr } = await program(args, { env: { DATA_DIR: "" } });
  expect(stdout).not.toContain(keyId);
  // Unless someone's `npm start` is running.
  if (stderr.startsWith("There is no /"))
    expect(stderr).toContain(`${join(import.meta.dirname, "../../../.local/run.json")}:`);
});
