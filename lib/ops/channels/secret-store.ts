import { readFile, writeFile } from "node:fs/promises";
import {
  DeleteParameterCommand,
  ParameterNotFound,
  PutParameterCommand,
  SSMClient,
} from "@aws-sdk/client-ssm";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { parseJson } from "../../json.ts";
import type { TableOptions } from "../command/command.ts";
import { localFile } from "../command/local-run-file.ts";
import { operatorConfig } from "../command/select-table.ts";

/** Stores a secret of a stage as an encrypted parameter; of the local run, in a file that only its user can read. */
export async function putSecret({ local }: TableOptions, name: string, value: string): Promise<void> {
  if (local) return changeFile({ [name]: value });
  const Name = `/${tableName}/${name}`;
  await parameters().send(
    new PutParameterCommand({ Name, Value: value, Type: "SecureString", Overwrite: true }),
  );
}

/** Deletes a secret, if there is one. */
export async function deleteSecret({ local }: TableOptions, name: string): Promise<void> {
  if (local) return changeFile({ [name]: undefined });
  try {
    await parameters().send(new DeleteParameterCommand({ Name: `/${tableName}/${name}` }));
  } catch (error) {
    if (!(error instanceof ParameterNotFound)) throw error;
  }
}

/** In the region of the selected table, which can be that of the stage's file. */
const parameters = () => new SSMClient({ ...operatorConfig, region: table.config.region });

async function changeFile(changes: Readonly<Record<string, string | undefined>>): Promise<void> {
  const file = localFile("secrets.json");
  const stored = parseJson(await readFile(file, "utf8").catch(() => "{}"));
  await writeFile(file, JSON.stringify({ ...Object(stored), ...changes }), { mode: 0o600 });
}
