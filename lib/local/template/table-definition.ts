import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { UserError } from "../../user-error.ts";
import type { FindResources } from "./intrinsics.ts";

/** The stack's one table. */
export type TableDefinition = ReturnType<typeof readTable>;

interface TableProperties extends CreateTableCommandInput {
  readonly TimeToLiveSpecification?: { readonly AttributeName: string; readonly Enabled: boolean };
}

/** Reads the table from the template. */
export function readTable(findResources: FindResources) {
  const tables = findResources("AWS::DynamoDB::Table");
  const [table, ...others] = tables;
  if (!table || others.length > 0)
    throw new UserError(`The template has ${tables.length} tables; the local run supports exactly one.`);
  const properties = table.properties as Partial<TableProperties>;
  const { StreamSpecification, TimeToLiveSpecification } = properties;
  const StreamViewType = StreamSpecification?.StreamViewType;
  return {
    /** The input of `CreateTable`. */
    input: {
      TableName: table.name,
      BillingMode: "PAY_PER_REQUEST" as const,
      AttributeDefinitions: properties.AttributeDefinitions,
      KeySchema: properties.KeySchema,
      // Without properties such as capacity, which CreateTable rejects for an on-demand table.
      GlobalSecondaryIndexes: properties.GlobalSecondaryIndexes?.map(
        ({ IndexName, KeySchema, Projection }) => ({ IndexName, KeySchema, Projection }),
      ),
      StreamSpecification: { StreamEnabled: true, StreamViewType },
    },
    /** The attribute that holds an item's expiry. */
    timeToLiveAttribute: TimeToLiveSpecification?.AttributeName,
  };
}

/** Finds the partition key attribute of the table, or of one of its indexes. */
export function findPartitionKey({ input }: TableDefinition, indexName?: string): string | undefined {
  const index = input.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === indexName);
  const schema = indexName === undefined ? input.KeySchema : index?.KeySchema;
  return schema?.find(({ KeyType }) => KeyType === "HASH")?.AttributeName;
}
