import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { issueApiKey, listApiKeys } from "../../../lib/ops/keys/api-key-changes.ts";
import { newApiKey } from "../../../shared/domain/api-key-format.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { createDataDirectory, ops } from "../../support/ops.ts";

const dataDirectory = await createDataDirectory();
const ended = await mkdtemp(join(tmpdir(), "ended-"));
afterAll(() => rm(ended, { recursive: true }));
// A process id above the largest of Linux.
const run = { tableName, dynamodbEndpoint: "http://127.0.0.1:9", pid: 2 ** 22 + 1 };
await writeFile(join(ended, "run.json"), JSON.stringify(run));

const { keyId } = await issueApiKey("acme", { label: "web" });
const unknownKey = newApiKey("01JZ0000000000000000000000");
const mistyped = unknownKey.replace(/.$/, (last) => (last === "0" ? "1" : "0"));

const noAccount = `There is no account nobody in the table ${tableName}. See \`npm run ops -- accounts list --local\`, or create it with \`npm run ops -- keys issue --account nobody --local\`.`;
const noTable = (name: string) =>
  `There is no table ${name} in the region local: check --stage or --table, and the region, which the stage's file or AWS_REGION sets.`;
const wrongKey = "The checksum of this key is wrong: it has a typo, or is cut off.";
const asks = (action: string) =>
  `The key ${keyId} of the account acme has the label "web".\nThis cannot be undone. Type the id of the key to ${action}: That is not the id of the key: nothing was changed. Scripts use --yes.`;
const invalid = (option: string, value: string, sentence: string) =>
  `error: option '${option}' argument '${value}' is invalid. ${sentence}`;

const noTableOption = "Name the table: --local, --stage NAME or --table NAME.";
const noKey = (id: string) =>
  `The account acme has no key ${id}: see \`npm run ops -- keys list --account acme --local\`.`;

test.each([
  ["keys list --account nobody --local", noAccount],
  [`keys revoke --account nobody --local --key ${keyId}`, noAccount],
  [`keys rotate --account nobody --local --key ${keyId}`, noAccount],
  ["leads set-status --account nobody --local --lead lead_1 --status new", noAccount],
  ["leads set-score --account nobody --local --lead lead_1 --score 1", noAccount],
  ["leads export --account nobody --local", noAccount],
  ["leads show --account nobody --local --email ada@example.com", noAccount],
  ["leads erase --account nobody --local --lead lead_1 --yes", noAccount],
  ["conversations set-status --account nobody --local --conversation conv_1 --status closed", noAccount],
  ["accounts set-limit --account nobody --local --requests 5", noAccount],
  ["accounts unset-limit --account nobody --local", noAccount],
  ["accounts show-limit --account nobody --local", noAccount],
  ["counts status --account nobody --local", noAccount],
  ["counts verify --account nobody --local", noAccount],
  ["counts rebuild --account nobody --local", noAccount],
  ["events republish --account nobody --local --since 1795219200 --dry-run", noAccount],

  [
    "leads set-status --account acme --local --lead lead_1 --status new",
    "The account acme has no lead lead_1.",
  ],
  ["leads set-score --account acme --local --lead lead_1 --score 1", "The account acme has no lead lead_1."],
  [
    "leads show --account acme --local --email ada@example.com",
    "The account acme has no lead with this email address.",
  ],
  [
    "conversations set-status --account acme --local --conversation conv_1 --status active",
    "The account acme has no conversation conv_1.",
  ],
  ["keys revoke --account acme --local --key 01JZ", noKey("01JZ")],
  ["keys rotate --account acme --local --key 01JZ", noKey("01JZ")],
  [
    `keys revoke --local --key ${unknownKey}`,
    `There is no key 01JZ0000000000000000000000 in the table ${tableName}.`,
  ],
  [`keys revoke --local --key ${mistyped}`, wrongKey],
  [`keys revoke --account acme --local --key ${unknownKey.replace("lck_", "lkc_")}`, wrongKey],
  [`keys rotate --local --key ${unknownKey.slice(0, -1)}`, wrongKey],
  ["keys revoke --local --key 01JZ", "An id needs the account of the key (--account), a whole key does not."],
  [`keys revoke --account acme --local --key ${keyId}`, asks("revoke it")],
  [`keys rotate --account acme --local --key ${keyId}`, asks("replace it")],

  ["keys list --account acme --table nowhere", noTable("nowhere")],
  ["keys issue --account acme --stage nowhere", noTable("leads-and-conversations-nowhere")],
  ["leads export --account acme --table nowhere", noTable("nowhere")],
  ["accounts set-limit --account acme --table nowhere --requests 5", noTable("nowhere")],
  ["accounts list --table nowhere", noTable("nowhere")],
  ["counts verify --account acme --table nowhere", noTable("nowhere")],
  ["counts verify --all --table nowhere", noTable("nowhere")],
  ["events republish --all --table nowhere --since 1795219200 --dry-run", noTable("nowhere")],
  [
    "keys list --account acme --local",
    `The \`npm start\` of ${join(ended, "run.json")} (process ${run.pid}) has ended: start it again.`,
    ended,
  ],
  ["keys list --account acme", noTableOption],
  ["accounts show-limit --account acme", noTableOption],
  [
    "keys list --account acme --local --stage dev",
    "error: option '--local' cannot be used with option '--stage <name>'",
  ],
  [
    "keys list --account acme --stage Prod",
    invalid(
      "--stage <name>",
      "Prod",
      "A stage's name has 1 to 21 lower-case letters, digits or '-', the first one a letter.",
    ),
  ],
  [
    "keys list --account a#b --local",
    invalid("--account <id>", "a#b", "An account id has 1 to 64 letters, digits, '_', '.' or '-'."),
  ],
  ["keys list --local", "error: required option '--account <id>' not specified"],
  ["counts verify --local", "Name the account: --account ID or --all."],
  [
    "counts status --account acme --all --local",
    "error: option '--all' cannot be used with option '--account <id>'",
  ],
  ["leads export --account acme --local --json", "--json needs --output, because stdout has the leads."],
  [
    "events republish --account acme --local --since 1795219200",
    "The local run sends all events again if you stop it, delete stream.json in its data directory, and start it.",
  ],
  [
    "events republish --account acme --local --since 1769851800 --until 1769851800 --dry-run",
    "The time of --since must be before that of --until.",
  ],
  [
    `events republish --account acme --table ${tableName} --since 1795219200`,
    `Name the event bus of the table ${tableName}: --bus NAME.`,
  ],
  ["keys forget --account acme", "error: unknown command 'forget'"],
  ["lead export --account acme", "error: unknown command 'lead'\n(Did you mean leads?)"],
])("ops %s fails in one sentence", async (line, sentence, directory = dataDirectory) => {
  const args = line.split(" ");
  // A process that has read its stdin to the end cannot ask again.
  const input = sentence.includes("Type the") ? { input: "yes\n" } : {};
  const outcome = await ops(args, { dataDirectory: directory, ...input });
  expect(outcome).toEqual({ code: 1, stdout: "", stderr: `${sentence}\n` });
});

test("none of them has changed the key", async () => {
  expect(await listApiKeys("acme")).toEqual([
    { keyId, accountId: "acme", access: "full", label: "web", createdAt: expect.any(String) },
  ]);
});
