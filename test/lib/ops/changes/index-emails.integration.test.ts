import { randomUUID } from "node:crypto";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { indexEmails } from "../../../../lib/ops/changes/index-emails.ts";
import { leadKey } from "../../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../../shared/dynamodb/table-client.ts";
import { call } from "../../../support/call.ts";
import { createDataDirectory, ops } from "../../../support/ops.ts";
import { aLead } from "../../../support/requests.ts";

/** Makes a lead as it was stored before the filter existed. */
const makeOld = (account: string, id: string) =>
  table.send(
    new UpdateCommand({
      TableName: tableName,
      Key: leadKey(account, id),
      UpdateExpression: "REMOVE byParent",
    }),
  );

async function findIds(account: string, email: string): Promise<string[]> {
  const { body } = await call("list-leads", { account, query: `email=${email}` });
  return body.data.map(({ id }) => id);
}

const dataDirectory = await createDataDirectory();
const account = randomUUID();
const [old, without, other] = [
  await aLead(account, { email: "Ada@example.com" }),
  await aLead(account),
  await aLead(account, { email: "ada@example.com" }),
];

test("index-emails lists the leads from before, once, and leaves the others unchanged", async () => {
  await makeOld(account, old.id);
  expect(await findIds(account, "ada@example.com")).toEqual([other.id]);
  expect(await indexEmails(account, 1000, true)).toBe(1);
  expect(await findIds(account, "ada@example.com")).toEqual([other.id]);
  const command = ["leads", "index-emails", "--account", account, "--local"];
  const { stdout } = await ops(command, { dataDirectory });
  expect(stdout).toBe("1 leads have been listed by email.\n");
  expect(await findIds(account, "ada@example.com")).toEqual([other.id, old.id]);
  const again = await ops([...command, "--json"], { dataDirectory });
  expect(JSON.parse(again.stdout)).toEqual({ account, indexed: 0 });
  const { body } = await call("list-leads", { account });
  expect(body.data).toEqual([other, without, old]);
});

test("index-emails does nothing for an account without leads", async () => {
  expect(await indexEmails(randomUUID(), 1000)).toBe(0);
});
