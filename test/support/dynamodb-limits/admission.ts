import { addUnprocessed, type BatchKeys, keysOf, pickKeys } from "./batch-keys.ts";
import type { PartitionLimits } from "./partition-limits.ts";
import { type CallInput, findUses, type ItemUse } from "./table-uses.ts";

type Response = Readonly<Record<string, unknown>>;

/** Whether limits admit a call, or which keys of a batch. */
export interface Admission<Input> {
  /** What throttles the call as a whole. */
  readonly over: ItemUse | undefined;
  /** Whether some keys of an admitted batch are throttled. */
  readonly partial: boolean;
  /** The input of the call, of a batch without throttled keys. */
  readonly input: Input;
  /** The uses of that input. */
  readonly uses: readonly ItemUse[];
  /** Turns the response to that input into the one to the call. */
  readonly complete: (response: Response) => Response;
}

/** What the read of a key consumes at least. */
const leastUnits = 0.5;

/**
 * Decides on a call. A batch of keys is read without those that are throttled, unless all of them are.
 *
 * @param operation such as `TransactWriteItems`
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
 */
export function admit<Input extends CallInput>(
  limits: PartitionLimits,
  operation: string,
  input: Input,
): Admission<Input> {
  const uses = findUses(operation, input);
  const whole = { input, uses, partial: false, complete: (response: Response) => response };
  if (operation !== "BatchGetItem") return { ...whole, over: limits.throttle(uses) };
  const throttled = limits.throttleEach(uses, leastUnits);
  if (throttled.length === 0) return { ...whole, over: undefined };
  if (throttled.length === uses.length) return { ...whole, over: throttled[0] };
  const batch = input.RequestItems as BatchKeys;
  const keys = keysOf(batch);
  const unprocessed = new Set(throttled.map(({ item }) => keys[item]));
  return {
    over: undefined,
    partial: true,
    input: { ...input, RequestItems: pickKeys(batch, (key) => !unprocessed.has(key)) },
    uses: uses.filter((use) => !throttled.includes(use)),
    complete: (response) =>
      addUnprocessed(
        response,
        pickKeys(batch, (key) => unprocessed.has(key)),
      ),
  };
}
