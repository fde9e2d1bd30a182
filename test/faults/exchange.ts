import type { AttributeValue } from "@aws-sdk/client-dynamodb";

/** The response to a table call. */
export interface TableResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

type Item = Readonly<Record<string, AttributeValue>>;

/** The parts of a call's input that faults depend on. */
export interface Input {
  readonly Item?: Item;
  readonly Key?: Item;
  readonly IndexName?: string;
  readonly ReturnConsumedCapacity?: "INDEXES" | "TOTAL" | "NONE";
  readonly TransactItems?: readonly object[];
  /** The keys that a batch reads of the table. */
  readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly Item[] }>>;
}

/** A table call that the proxy holds. */
export interface Exchange {
  /** Such as `TransactWriteItems`. */
  readonly operation: string;
  readonly input: Input;
  /** The response to the same query of an index some time ago, if there was one. */
  readonly earlier: TableResponse | undefined;
  /** Sends the call to the table, with other values of its input if there are changes. */
  forward(changes?: Partial<Input>): Promise<TableResponse>;
  reply(response: TableResponse): void;
  /** Closes the connection without a response. */
  drop(): void;
  /** Closes the connection in the middle of a response. */
  truncate(response: TableResponse): void;
}

/** A response with another body, so without the checksum of its own. */
export function withBody({ status, headers }: TableResponse, body: object): TableResponse {
  const { "x-amz-crc32": _, ...others } = headers;
  return { status, headers: others, body: Buffer.from(JSON.stringify(body)) };
}

/** Decides the outcome of a call. */
export type Handle = (exchange: Exchange) => Promise<unknown>;

/** Passes a call and its response on unchanged. */
export const pass: Handle = async (exchange) => exchange.reply(await exchange.forward());
