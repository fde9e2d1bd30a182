import { ResourceNotFoundException } from "@aws-sdk/client-dynamodb";
import { afterAll } from "vitest";
import { dataFormat, dataFormatTag } from "../../../shared/dynamodb/data-format.ts";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { validationError } from "../memory-table/stored-items.ts";
import "../setup/log-leak-check.ts";
import { MemoryTable } from "../memory-table/memory-table.ts";
import { aroundCalls, type TableCommand } from "./conditions.ts";

interface Table {
  readonly memory: MemoryTable;
  readonly hasIndexes: boolean;
  /** The tag with its data format; undefined without one. */
  format: string | undefined;
}

const tables = new Map<string, Table>();

/** Makes every client of this process use tables in memory until the end of the test file. @returns the file's own table */
export function useTablesOfCommands(): MemoryTable {
  const calls = aroundCalls(async (command) => run(command));
  afterAll(() => calls[Symbol.dispose]());
  const memory = new MemoryTable();
  tables.set(tableName, { memory, hasIndexes: true, format: String(dataFormat) });
  return memory;
}

let copies = 0;

/** Copies the test file's table without its indexes and its tags, as a restore to this moment does. @returns its name */
export function copyTable(): string {
  const name = `restored-${++copies}`;
  const memory = new MemoryTable();
  memory.restore(find(tableName).memory.snapshot());
  tables.set(name, { memory, hasIndexes: false, format: undefined });
  return name;
}

/** Tags a table with a data format, as a deployment does, or removes the tag, as a restore does. */
export function tagTable(name: string, format: number | undefined): void {
  find(name).format = format === undefined ? undefined : String(format);
}

/** The name of the table that a command, or the first part of a transaction, uses. */
function nameIn({ TableName, ResourceArn, RequestItems = {}, TransactItems }: TableCommand["input"]): string {
  const [part = {}] = TransactItems ?? [];
  return TableName ?? ResourceArn ?? Object.keys(RequestItems)[0] ?? nameIn(Object.values(part)[0] ?? {});
}

function find(name: string): Table {
  const table = tables.get(name);
  if (table) return table;
  throw new ResourceNotFoundException({ message: `There is no table ${name}.`, $metadata: {} });
}

function run(command: TableCommand): object {
  const { input } = command;
  const { memory, hasIndexes, format } = find(nameIn(input));
  if (command.constructor.name === "DescribeTableCommand") return { Table: { TableArn: input.TableName } };
  if (command.constructor.name === "ListTagsOfResourceCommand")
    return { Tags: format === undefined ? [] : [{ Key: dataFormatTag, Value: format }] };
  if (input.IndexName !== undefined && !hasIndexes) throw validationError("The table has no such index.");
  return memory.execute(command).output;
}
