import type { CreateTableCommandInput, UpdateTimeToLiveCommandInput } from "@aws-sdk/client-dynamodb";
import { UserError } from "../../user-error.ts";
import type { FindResources } from "./intrinsics.ts";

/** The stack's one table. */
export type TableDefinition = ReturnType<typeof readTable>;

type TableProperties = CreateTableCommandInput & UpdateTimeToLiveCommandInput;

/** Reads the table from the template. */
export function readTable(findResources: FindResources) {
  const tables = findResources("AWS::DynamoDB::Table");
  const [table, ...others] = tables;
  if (!table || others.length > 0)
    throw new UserError(`The template has ${tables.length} tables; the local run supports exactly one.`);
  const properties = table.properties as object as TableProperties;
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] } = properties;
  return {
    /** The input of `CreateTable`. */
    input: {
      TableName: table.name,
      BillingMode: "PAY_PER_REQUEST" as const,
      AttributeDefinitions,
      KeySchema,
      GlobalSecondaryIndexes,
      StreamSpecification: { StreamEnabled: true, ...properties.StreamSpecification },
    },
    /** How items expire, as `UpdateTimeToLive` takes it. */
    TimeToLiveSpecification: properties.TimeToLiveSpecification,
    /** Finds the partition key attribute of the table, or of one of its indexes. */
    findPartitionKey(indexName?: string): string | undefined {
      const index = GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === indexName);
      const schema = indexName === undefined ? KeySchema : index?.KeySchema;
      return schema?.find(({ KeyType }) => KeyType === "HASH")?.AttributeName;
    },
  };
}
