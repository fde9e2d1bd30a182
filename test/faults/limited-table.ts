import { chargeConsumed } from "../support/dynamodb-limits/consumed-capacity.ts";
import type { PartitionLimits } from "../support/dynamodb-limits/partition-limits.ts";
import { findUses, type ItemUse } from "../support/dynamodb-limits/table-uses.ts";
import { throttlingReason } from "../support/dynamodb-limits/throttling-reason.ts";
import { cancellation, throttled } from "./aws-errors.ts";
import type { Exchange, TableResponse } from "./exchange.ts";

/** What a write consumes whose condition does not hold, if its item is not larger than 1 KB. */
const refusedUnits = 1;

/** A table that throttles calls of partition keys over their limits, by what the engine reports that calls consume. */
export class LimitedTable {
  /** How many calls were throttled. */
  throttled = 0;
  readonly #limits: PartitionLimits;
  readonly #tableName: string;

  constructor(limits: PartitionLimits, tableName: string) {
    this.#limits = limits;
    this.#tableName = tableName;
  }

  handle = async (exchange: Exchange): Promise<unknown> => {
    const { operation, input } = exchange;
    const uses = findUses(operation, input);
    const over = this.#limits.throttle(uses);
    if (over) return exchange.reply(this.#refuse(exchange, over));
    const response = await exchange.forward({ ReturnConsumedCapacity: "INDEXES" });
    if (response.status !== 200) {
      for (const use of uses) if (use.kind === "write") this.#limits.charge(use, refusedUnits);
      return exchange.reply(response);
    }
    const { ConsumedCapacity, ...body } = JSON.parse(response.body.toString());
    const sizes = input.TransactItems?.map((item) => JSON.stringify(item).length);
    chargeConsumed(this.#limits, uses, ConsumedCapacity, sizes);
    const { ReturnConsumedCapacity: asked = "NONE" } = input;
    exchange.reply(asked === "NONE" ? withBody(response, body) : response);
  };

  /** AWS documents two exceptions for a partition key over its limit, in every capacity mode: they take turns. */
  #refuse({ operation, input }: Exchange, use: ItemUse): TableResponse {
    const odd = this.throttled++ % 2 === 1;
    if (operation === "TransactWriteItems") {
      const code = odd ? "ProvisionedThroughputExceeded" : "ThrottlingError";
      return cancellation(code, input.TransactItems?.length ?? 0, use.item);
    }
    const type = odd ? "ProvisionedThroughputExceededException" : "ThrottlingException";
    return throttled(type, throttlingReason(use, this.#tableName));
  }
}

/** The response with another body, so without the checksum of the old one. */
function withBody({ status, headers }: TableResponse, body: object): TableResponse {
  const { "x-amz-crc32": _, ...others } = headers;
  return { status, headers: others, body: Buffer.from(JSON.stringify(body)) };
}
