import { admit } from "../support/dynamodb-limits/admission.ts";
import { type Consumed, chargeConsumed } from "../support/dynamodb-limits/consumed-capacity.ts";
import type { PartitionLimits } from "../support/dynamodb-limits/partition-limits.ts";
import type { ItemUse } from "../support/dynamodb-limits/table-uses.ts";
import { throttlingReason } from "../support/dynamodb-limits/throttling-reason.ts";
import { cancellation, refusal } from "./aws-errors.ts";
import { type Exchange, type TableResponse, withBody } from "./exchange.ts";

/** What a write consumes whose condition does not hold, if its item is not larger than 1 KB. */
const refusedUnits = 1;

/** A table that throttles calls of partition keys over their limits, by what the engine reports that calls consume. */
export class LimitedTable {
  /** How many calls were throttled, batches in part included. */
  throttled = 0;
  readonly #limits: PartitionLimits;
  readonly #tableName: string;

  constructor(limits: PartitionLimits, tableName: string) {
    this.#limits = limits;
    this.#tableName = tableName;
  }

  handle = async (exchange: Exchange): Promise<unknown> => {
    const { over, partial, input, uses, complete } = admit(this.#limits, exchange.operation, exchange.input);
    if (over) return exchange.reply(this.#refuse(exchange, over));
    if (partial) this.throttled++;
    const response = await exchange.forward({ ...input, ReturnConsumedCapacity: "INDEXES" });
    if (response.status !== 200) {
      for (const use of uses) if (use.kind === "write") this.#limits.charge(use, refusedUnits);
      return exchange.reply(response);
    }
    const { ConsumedCapacity, ...body } = complete(JSON.parse(response.body.toString()));
    const sizes = input.TransactItems?.map((item) => JSON.stringify(item).length);
    chargeConsumed(this.#limits, uses, ConsumedCapacity as Consumed, sizes);
    const { ReturnConsumedCapacity: asked = "NONE" } = input;
    exchange.reply(withBody(response, asked === "NONE" ? body : { ...body, ConsumedCapacity }));
  };

  /** AWS documents two exceptions for a partition key over its limit, in every capacity mode: they take turns. */
  #refuse({ operation, input }: Exchange, use: ItemUse): TableResponse {
    const odd = this.throttled++ % 2 === 1;
    if (operation === "TransactWriteItems") {
      const code = odd ? "ProvisionedThroughputExceeded" : "ThrottlingError";
      return cancellation(code, input.TransactItems?.length ?? 0, use.item);
    }
    const type = odd ? "ProvisionedThroughputExceededException" : "ThrottlingException";
    const { body, ...response } = refusal(type);
    // The two exceptions spell the member differently.
    const name = odd ? "ThrottlingReasons" : "throttlingReasons";
    const reasons = { [name]: [throttlingReason(use, this.#tableName)] };
    return withBody({ ...response, body }, { ...JSON.parse(body.toString()), ...reasons });
  }
}
