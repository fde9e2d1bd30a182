import type { AttributeValue } from "@aws-sdk/client-dynamodb";

/** What the table answers a call. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

type Item = Readonly<Record<string, AttributeValue>>;

/** What faults look at of a call's input. */
export interface Input {
  readonly IndexName?: string;
  readonly Item?: Item;
  readonly Key?: Item;
  readonly TransactItems?: readonly object[];
}

/** A call of the table, on its way. */
export interface Exchange {
  /** As `TransactWriteItems`. */
  readonly operation: string;
  readonly input: Input;
  /** What the same query of an index was answered a while ago, if it was asked then. */
  readonly earlier: Answer | undefined;
  /** Lets the table do what is asked. */
  forward(): Promise<Answer>;
  reply(response: Answer): void;
  /** Closes the connection without an answer. */
  drop(): void;
  /** Closes the connection in the middle of an answer. */
  truncate(response: Answer): void;
}

/** What becomes of a call. */
export type Handle = (exchange: Exchange) => Promise<unknown>;

/** As if there was nothing in between. */
export const pass: Handle = async (exchange) => exchange.reply(await exchange.forward());
