import { constructStack } from "@smithy/core/client";
import type { DynamoDBClient } from "./client-dynamodb.ts";
import type { Host } from "./host.ts";

declare const host: Host;

class Command {
  readonly middlewareStack = constructStack();
  readonly input: object;

  constructor(input: object) {
    this.input = input;
  }
}

/** The commands of the document client. The table in memory tells them apart by the names of their classes. */
export class BatchGetCommand extends Command {}
export class BatchWriteCommand extends Command {}
export class DeleteCommand extends Command {}
export class GetCommand extends Command {}
export class PutCommand extends Command {}
export class QueryCommand extends Command {}
export class ScanCommand extends Command {}
export class TransactWriteCommand extends Command {}
export class UpdateCommand extends Command {}

/** Stands for the document client of `@aws-sdk/lib-dynamodb` in a simulated execution environment. */
export class DynamoDBDocumentClient {
  readonly #client: DynamoDBClient;

  constructor(client: DynamoDBClient) {
    this.#client = client;
  }

  static from = (client: DynamoDBClient) => new DynamoDBDocumentClient(client);

  get middlewareStack() {
    return this.#client.middlewareStack;
  }

  get config() {
    return this.#client.config;
  }

  async send(
    command: Command,
    { abortSignal }: { readonly abortSignal?: AbortSignal } = {},
  ): Promise<unknown> {
    const attempt = async () => ({
      response: {},
      output: { $metadata: {}, ...(await host.attempt(command, abortSignal)) },
    });
    const context = { commandName: command.constructor.name, clientName: "DynamoDBClient" };
    const handle = this.#client.middlewareStack.concat(command.middlewareStack).resolve(attempt, context);
    return (await handle({ input: command.input })).output;
  }
}

/** All pages of a query. */
export async function* paginateQuery(
  { client, pageSize }: { readonly client: DynamoDBDocumentClient; readonly pageSize?: number },
  input: object,
) {
  let ExclusiveStartKey: unknown;
  do {
    const query = new QueryCommand({ ...input, Limit: pageSize, ExclusiveStartKey });
    const page = (await client.send(query)) as { readonly LastEvaluatedKey?: unknown };
    yield page;
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}
