import { readFile, writeFile } from "node:fs/promises";
import * as ssm from "@aws-sdk/client-ssm";
import type { OtherTable } from "../../../shared/dynamodb/read-pages.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { parseJson } from "../../../shared/json.ts";
import type { TableOptions } from "../command/command.ts";
import { localFile } from "../command/local-run-file.ts";
import { operatorConfig } from "../command/select-table.ts";

/** Stores a secret: for a stage as an encrypted parameter, for the local run in a file that only its user can read. */
export async function putSecret({ local }: TableOptions, name: string, value: string): Promise<void> {
  if (local) return changeFile({ [name]: value });
  const Name = `/${tableName}/${name}`;
  await parameters().send(
    new ssm.PutParameterCommand({ Name, Value: value, Type: "SecureString", Overwrite: true }),
  );
}

/** Deletes a secret, if there is one. */
export async function deleteSecret({ local }: TableOptions, name: string): Promise<void> {
  if (local) return changeFile({ [name]: undefined });
  try {
    await parameters().send(new ssm.DeleteParameterCommand({ Name: `/${tableName}/${name}` }));
  } catch (error) {
    if (!(error instanceof ssm.ParameterNotFound)) throw error;
  }
}

/** Reads a secret of another table, by its name or ARN, if there is one that may be read. All local tables share one file. */
export async function getSecret({ local }: TableOptions, { client, name: other }: OtherTable, name: string) {
  if (local) return (await readSecrets())[name];
  const command = new ssm.GetParameterCommand({
    Name: `/${other.split("/").at(-1)}/${name}`,
    WithDecryption: true,
  });
  try {
    return (await parameters(client).send(command)).Parameter?.Value;
  } catch (error) {
    // Who may copy a table may not always read its stage's secrets.
    if (error instanceof Error && ["ParameterNotFound", "AccessDeniedException"].includes(error.name))
      return undefined;
    throw error;
  }
}

/** A client in the region of a table, which the stage's file can set. */
const parameters = ({ config } = table) => new ssm.SSMClient({ ...operatorConfig, region: config.region });

const readSecrets = async (): Promise<Readonly<Record<string, string | undefined>>> =>
  Object(parseJson(await readFile(localFile("secrets.json"), "utf8").catch(() => "{}")));

async function changeFile(changes: Readonly<Record<string, string | undefined>>): Promise<void> {
  const text = JSON.stringify({ ...(await readSecrets()), ...changes });
  await writeFile(localFile("secrets.json"), text, { mode: 0o600 });
}
