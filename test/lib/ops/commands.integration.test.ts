import { readFile } from "node:fs/promises";
import { NumberValue } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { operatorConfig } from "../../../lib/ops/command/select-table.ts";
import { issueApiKey } from "../../../lib/ops/keys/api-key-changes.ts";
import { externalIdKey, leadKey, messageKey } from "../../../shared/dynamodb/keys.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { skipWaits } from "../../support/cases/skipped-waits.ts";
import { createDataDirectory } from "../../support/commands/data-directory.ts";
import { filePath, leadFile, readLines, storedLeads } from "../../support/commands/lead-files.ts";
import { aMessage } from "../../support/requests/requests.ts";
import { smallPages } from "../../support/tables/conditions.ts";
import { put, remove, tableItems } from "../../support/tables/table-items.ts";
import { program } from "./support/program.ts";

// The other tests run commands on tables in memory. Here they run on the embedded DynamoDB.
skipWaits();

/** Runs a command on the test file's table. @returns its exit code and what it prints, parsed */
async function ops(line: string, ...args: string[]) {
  const { code, stdout } = await program([...line.split(" "), ...args, "--table", tableName, "--json"]);
  return { code, output: JSON.parse(stdout || "null") };
}

/** The names of the items that contain a text. */
const itemsWith = async (text: string) =>
  [...(await tableItems())].filter((entry) => JSON.stringify(entry).includes(text)).map(([name]) => name);

test("the leads of an account are imported, copied, shown, exported and erased, page by page", async () => {
  await issueApiKey("acme");
  const csv = "name,externalId,email,addresses.sms\nAda,crm-ada,ada@example.com,+1;+2\nGrace,,,\nMary,,,\n";
  const file = await leadFile(csv);
  using _ = smallPages();
  expect((await ops("leads import --account acme", file)).output).toMatchObject({ imported: 3 });
  expect((await ops("leads import --account acme", file)).output).toMatchObject({ imported: 0, present: 3 });
  const [ada] = await storedLeads("acme");
  const id = `${ada?.id}`;
  const { conversationId } = await aMessage("acme", id);
  const copied = await ops("accounts copy --account acme --to-account other --from-table", tableName);
  expect(copied).toMatchObject({ code: 0, output: { stored: 9, erased: 0, invalid: [] } });
  expect((await storedLeads("other")).map(({ name }) => name)).toEqual(["Ada", "Grace", "Mary"]);
  const planted = [
    {
      ...leadKey("acme", newId("lead")),
      details: { toString: "x" },
      score: NumberValue.from("9".repeat(38)),
    },
    { ...messageKey("acme", conversationId, newId("msg")), leadId: new Set([id]) },
    { ...externalIdKey("acme", "crm-5"), leadId: [id] },
  ];
  for (const item of planted) await put(item);
  const shown = await ops("leads show --account acme --email ADA@example.com");
  expect(await ops("leads show --account acme --address SMS:(2)")).toEqual(shown);
  expect(shown).toMatchObject({
    code: 3,
    output: { leads: [{ lead: ada }], invalid: [{ pk: planted[1]?.pk }] },
  });
  const path = filePath(".jsonl");
  const exported = await ops("accounts export --account acme --output", path);
  expect(exported).toMatchObject({ code: 3, output: { lines: { lead: 3, message: 1 }, invalid: 2 } });
  expect(await readLines(path)).toContainEqual({ type: "lead", ...ada });
  const listed = [{ account: "acme", leads: 4, keys: 1 }, { account: "other" }];
  expect((await ops("accounts list")).output).toMatchObject(listed);

  const erased = await ops("leads erase --account acme --yes --lead", id);
  expect(erased).toMatchObject({ code: 1, output: { leads: [id], messages: 1, invalid: { length: 2 } } });
  const left = (await itemsWith(id)).filter((name) => name.includes("#acme"));
  expect(left.sort()).toEqual([
    `ERASED#acme ${id}`,
    "EXTERNAL#acme crm-5",
    expect.stringContaining("IMPORT#acme"),
  ]);
  for (const item of planted) await remove(item);
  expect(await ops("counts verify --account other --repair")).toMatchObject({ code: 0 });
  const text = filePath(".csv");
  expect(await ops("leads export --account other --output", text)).toMatchObject({ code: 0 });
  expect(await readFile(text, "utf8")).toMatch(
    /^id,.*\r\nlead_\w+,,Mary,.*\r\nlead_\w+,,Grace,.*\r\nlead_\w+,crm-ada,Ada,.*\r\n$/,
  );
  expect((await ops("accounts erase --yes --cache-seconds 0 --account acme")).output).toMatchObject({
    erased: true,
  });
  expect(await itemsWith("acme")).toEqual(["COUNT#acme#CONVERSATION root", "COUNT#acme#LEAD root"]);
});

test("--local uses neither the AWS credentials nor the endpoint of the operator", async () => {
  await issueApiKey("local");
  const env = {
    ...{ DATA_DIR: await createDataDirectory(), AWS_PROFILE: "nobody" },
    ...{ AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:9", AWS_REGION: "eu-central-1" },
    AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  };
  const outcome = await program(["accounts", "show-limit", "--account", "local", "--local"], { env });
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
});

const noConfiguration = { HOME: "/nowhere", AWS_EC2_METADATA_DISABLED: "true" };

test.each([
  [
    "no credentials",
    { ...noConfiguration, AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" },
    /^No AWS credentials were found \(.+\): set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\.\n$/,
  ],
  [
    "an empty region",
    { ...noConfiguration, AWS_REGION: "" },
    /^No valid AWS region is configured: set AWS_REGION, or .+\.\n$/,
  ],
])("%s is reported in one sentence", async (_, env, sentence) => {
  // The SDK would wait between its attempts.
  vi.spyOn(operatorConfig, "maxAttempts", "get").mockReturnValue(1);
  const args = ["keys", "list", "--account", "a", "--table", "no-such-table"];
  const { code, stdout, stderr } = await program(args, { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(sentence);
});
