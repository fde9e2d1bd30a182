import type { CreateTableCommandInput, GlobalSecondaryIndex } from "@aws-sdk/client-dynamodb";
import { UserError } from "../../errors.ts";
import type { Resolve, Template } from "./intrinsics.ts";

/** The template's one table: how to create it, and the attribute that holds an item's expiry. */
export interface TableDefinition {
  readonly input: CreateTableCommandInput & { readonly TableName: string };
  readonly timeToLiveAttribute?: string;
}

const tableTypes = new Set(["AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"]);

interface TableProperties extends CreateTableCommandInput {
  readonly TimeToLiveSpecification?: { readonly AttributeName: string; readonly Enabled: boolean };
}

/** Reads the table from the template. */
export function readTable(template: Template, resolve: Resolve): TableDefinition {
  const tables = Object.entries(template.Resources).filter(([, { Type }]) => tableTypes.has(Type));
  const [table, ...others] = tables;
  if (!table || others.length > 0) throw new UserError(`The template has ${tables.length} tables, not one.`);
  const [id, { Properties = {} }] = table;
  const properties = resolve(Properties) as TableProperties;
  const {
    GlobalSecondaryIndexes: indexes,
    StreamSpecification: stream,
    TimeToLiveSpecification: ttl,
  } = properties;
  return {
    input: {
      TableName: String(resolve({ Ref: id })),
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: properties.AttributeDefinitions,
      KeySchema: properties.KeySchema,
      ...(indexes && { GlobalSecondaryIndexes: indexes.map(indexInput) }),
      ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: stream.StreamViewType } }),
    },
    ...(ttl?.Enabled && { timeToLiveAttribute: ttl.AttributeName }),
  };
}

/** The template's index may say more, as its capacity, than a table billed by request takes. */
const indexInput = ({ IndexName, KeySchema, Projection }: GlobalSecondaryIndex): GlobalSecondaryIndex => ({
  IndexName,
  KeySchema,
  Projection,
});

/** The partition key attribute of the table, or of one of its indexes. */
export function partitionKeyAttribute({ input }: TableDefinition, indexName?: string): string | undefined {
  const index = input.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === indexName);
  const schema = indexName === undefined ? input.KeySchema : index?.KeySchema;
  return schema?.find(({ KeyType }) => KeyType === "HASH")?.AttributeName;
}
