import { setTimeout } from "node:timers/promises";
import { cancellation, refusal, serverError } from "./aws-errors.ts";
import type { Exchange } from "./exchange.ts";
import { pick } from "./pick.ts";

/** A way in which a call of the table goes wrong. */
interface Fault {
  /** Whether such a call can. */
  readonly meets: (exchange: Exchange) => boolean;
  /** @param random gives numbers from 0 to below 1 */
  readonly inject: (exchange: Exchange, random: () => number) => Promise<unknown>;
}

const always = () => true;

/** A plain write conflicts with a transaction on the same item, so it must be one that transactions write, too. */
const mayConflict = ({ operation, input }: Exchange) =>
  operation === "TransactWriteItems" ||
  operation === "UpdateItem" ||
  (operation === "PutItem" && input.Item?.pk?.S?.startsWith("COUNT#") === true);

const cancel = ({ input }: Exchange, code: Parameters<typeof cancellation>[0], random: () => number) => {
  const items = input.TransactItems?.length ?? 0;
  return cancellation(code, items, Math.floor(random() * items));
};

/** Every kind of fault, by its name. */
export const faultKinds = {
  /** The answer comes late, but in time. */
  delay: {
    meets: always,
    async inject(exchange, random) {
      await setTimeout(20 + random() * 280);
      exchange.reply(await exchange.forward());
    },
  },
  /** The call takes effect when the SDK has given its attempt up, which it does after a second. */
  late: {
    meets: always,
    async inject(exchange, random) {
      await setTimeout(1050 + random() * 500);
      exchange.reply(await exchange.forward());
    },
  },
  "drop before": { meets: always, inject: async (exchange) => exchange.drop() },
  "drop after": {
    meets: always,
    async inject(exchange) {
      await exchange.forward();
      exchange.drop();
    },
  },
  /** A transaction is refused whole, or canceled for one of its items. */
  throttle: {
    meets: always,
    async inject(exchange, random) {
      if (exchange.operation === "TransactWriteItems" && random() < 0.7) {
        const code = pick(random, ["ThrottlingError", "ProvisionedThroughputExceeded"]);
        return exchange.reply(cancel(exchange, code, random));
      }
      const type = pick(random, ["ThrottlingException", "ProvisionedThroughputExceededException"]);
      exchange.reply(refusal(type));
    },
  },
  /** A write may or may not have taken effect. */
  "server error": {
    meets: always,
    async inject(exchange, random) {
      if (random() < 0.5) await exchange.forward();
      exchange.reply(serverError());
    },
  },
  truncate: {
    meets: always,
    inject: async (exchange) => exchange.truncate(await exchange.forward()),
  },
  /** Another transaction is under way on one of the items. */
  conflict: {
    meets: mayConflict,
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
    meets: ({ earlier }) => earlier !== undefined,
    inject: async (exchange) => exchange.reply(exchange.earlier ?? (await exchange.forward())),
  },
} as const satisfies Record<string, Fault>;

export type FaultKind = keyof typeof faultKinds;
