/** A test that fails on DynamoDB Local because that does not do what AWS does. */
export interface Difference {
  /** The test's file, `>`, and its full name. */
  readonly test: string;
  readonly reason: string;
  /** Where the difference is documented, or was observed by others. */
  readonly source: string;
}

const transactionUnits = {
  reason:
    "DynamoDB Local 1.25 reports four units for each item of a transaction and for each of its index entries; AWS reports two for an item, and one for an entry.",
  source:
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-capacity-handling https://github.com/nubo-db/dynoxide/pull/188",
} as const;

const missingItemUnits = {
  reason:
    "DynamoDB Local reports no read units for the missing items of a batch; AWS charges each as one of 4 KB.",
  source: "https://github.com/awslabs/amazon-dynamodb-tools/issues/25",
} as const;

export const differences: readonly Difference[] = [
  {
    test: "test/functions/idempotency.integration.test.ts > an Idempotency-Key costs its record and the price of a transaction, and no read",
    ...transactionUnits,
  },
  {
    test: "test/support/memory-table.integration.test.ts > a batch has from 1 to 100 keys",
    ...missingItemUnits,
  },
  {
    test: "test/support/meter.integration.test.ts > a batch counts as a read of nodes",
    ...missingItemUnits,
  },
  {
    test: "test/support/meter.integration.test.ts > a batch counts as a read of rows",
    ...missingItemUnits,
  },
];
