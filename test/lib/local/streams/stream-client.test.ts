import { createServer } from "node:http";
import { DynamoDBStreamsServiceException } from "@aws-sdk/client-dynamodb-streams";
import { expect, onTestFinished, test } from "vitest";
import { engineStreamsClient } from "../../../../lib/local/engine/dynamodb-client.ts";
import { createStreamClient } from "../../../../lib/local/streams/stream-client.ts";
import { listening } from "../../../support/listening.ts";

/** A client of an engine that gives the same response to every request. */
async function createClient(status: number, response: string) {
  const server = createServer((_, res) => void res.writeHead(status).end(response));
  const client = engineStreamsClient(await listening(server));
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return createStreamClient(client);
}

test("records have the form in which Lambda passes them on", async () => {
  const item = { pk: { S: "LEAD#a" }, entries: { B: "AP8=" }, keys: { BS: ["AQ=="] }, score: { N: "7" } };
  const deep = { L: [{ M: { bytes: { B: "Ag==" }, nothing: { NULL: true }, done: { BOOL: false } } }] };
  const record = {
    ...{ eventID: "1", eventName: "INSERT", eventVersion: "1.1", eventSource: "aws:dynamodb" },
    awsRegion: "local",
    dynamodb: {
      ApproximateCreationDateTime: 1_700_000_000,
      Keys: { pk: item.pk },
      NewImage: { ...item, deep },
      SequenceNumber: "100",
      SizeBytes: 26,
      StreamViewType: "NEW_AND_OLD_IMAGES",
    },
  };
  const client = await createClient(200, JSON.stringify({ Records: [record], NextShardIterator: "next" }));
  expect(await client.records("iterator")).toEqual({ records: [record], next: "next" });
});

test("a shard without a next iterator has ended", async () => {
  const client = await createClient(200, '{"Records":[],"NextShardIterator":null}');
  expect((await client.records("iterator")).next).toBeUndefined();
});

test.each([
  200, 400,
])("a response of %i that is not JSON is an error that quotes none of it", async (status) => {
  const client = await createClient(status, '{"Records":[secret');
  const failure = await client.records("iterator").catch((error: unknown) => error);
  // The reader starts from the oldest record only after a service exception.
  expect(failure).not.toBeInstanceOf(DynamoDBStreamsServiceException);
  expect(String(failure)).toBe("Error: the engine's response is not valid JSON");
});

test("an error of the engine is a service exception", async () => {
  const type = "com.amazonaws.dynamodb.v20120810#TrimmedDataAccessException";
  const client = await createClient(400, JSON.stringify({ __type: type, message: "trimmed" }));
  const failure = await client.records("iterator").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DynamoDBStreamsServiceException);
  expect(failure).toMatchObject({ name: "TrimmedDataAccessException" });
});
