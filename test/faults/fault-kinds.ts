import { setTimeout } from "node:timers/promises";
import { pick } from "../support/random.ts";
import { cancellation, refusal, serverError } from "./aws-errors.ts";
import { type Exchange, withBody } from "./exchange.ts";

/** A way in which a table call fails. */
interface Fault {
  /** Whether the call can fail in this way. */
  readonly applies: (exchange: Exchange) => boolean;
  /** @param random gives numbers from 0 to below 1 */
  readonly inject: (exchange: Exchange, random: () => number) => Promise<unknown>;
}

const always = () => true;

/** A plain write can conflict only on items that transactions write too. */
const mayConflict = ({ operation, input }: Exchange) =>
  operation === "TransactWriteItems" ||
  operation === "UpdateItem" ||
  (operation === "PutItem" && input.Item?.pk?.S?.startsWith("COUNT#") === true);

const cancel = ({ input }: Exchange, code: Parameters<typeof cancellation>[0], random: () => number) => {
  const items = input.TransactItems?.length ?? 0;
  return cancellation(code, items, Math.floor(random() * items));
};

/** Reads the first key of a batch and about half of the others. */
async function readInPart({ input, forward, reply }: Exchange, random: () => number): Promise<void> {
  const [[table, batch] = ["", { Keys: [] }]] = Object.entries(input.RequestItems ?? {});
  const { read = [], left = [] } = Object.groupBy(batch.Keys, (_, position) =>
    position === 0 || random() < 0.5 ? "read" : "left",
  );
  const response = await forward({ RequestItems: { [table]: { ...batch, Keys: read } } });
  const UnprocessedKeys = left.length > 0 ? { [table]: { ...batch, Keys: left } } : {};
  reply(withBody(response, { ...JSON.parse(response.body.toString()), UnprocessedKeys }));
}

/** Every kind of fault, by name. */
export const faultKinds = {
  /** The response is slow, but arrives before the timeout. */
  delay: {
    applies: always,
    async inject(exchange, random) {
      await setTimeout(20 + random() * 280);
      exchange.reply(await exchange.forward());
    },
  },
  /** The call takes effect after the SDK's attempt has timed out, which it does after a second. */
  late: {
    applies: always,
    async inject(exchange, random) {
      await setTimeout(1050 + random() * 500);
      exchange.reply(await exchange.forward());
    },
  },
  "drop before": { applies: always, inject: async (exchange) => exchange.drop() },
  "drop after": {
    applies: always,
    async inject(exchange) {
      await exchange.forward();
      exchange.drop();
    },
  },
  /** The call is rejected, a transaction is cancelled because of one of its items, or a batch is read in part. */
  throttle: {
    applies: always,
    async inject(exchange, random) {
      if (exchange.operation === "TransactWriteItems" && random() < 0.7) {
        const code = pick(random, ["ThrottlingError", "ProvisionedThroughputExceeded"]);
        return exchange.reply(cancel(exchange, code, random));
      }
      if (exchange.operation === "BatchGetItem" && random() < 0.7) return readInPart(exchange, random);
      const type = pick(random, ["ThrottlingException", "ProvisionedThroughputExceededException"]);
      exchange.reply(refusal(type));
    },
  },
  /** A write may or may not have taken effect. */
  "server error": {
    applies: always,
    async inject(exchange, random) {
      if (random() < 0.5) await exchange.forward();
      exchange.reply(serverError());
    },
  },
  truncate: {
    applies: always,
    inject: async (exchange) => exchange.truncate(await exchange.forward()),
  },
  /** Another transaction on one of the items is in progress. */
  conflict: {
    applies: mayConflict,
    async inject(exchange, random) {
      const isTransaction = exchange.operation === "TransactWriteItems";
      exchange.reply(
        isTransaction
          ? cancel(exchange, "TransactionConflict", random)
          : refusal("TransactionConflictException"),
      );
    },
  },
  "stale index": {
    applies: ({ earlier }) => earlier !== undefined,
    inject: async (exchange) => exchange.reply(exchange.earlier ?? (await exchange.forward())),
  },
} as const satisfies Record<string, Fault>;

export type FaultKind = keyof typeof faultKinds;
