import { Pace, unpaced } from "../../../shared/dynamodb/pace.ts";

/**
 * Skips the waits of commands, until the result is disposed of or the test file ends.
 *
 * @param onWait called in place of each wait
 * @returns the lengths of the waits, in milliseconds
 */
export function skipWaits(
  onWait: (milliseconds: number) => unknown = () => {},
): Disposable & { readonly lengths: number[] } {
  const lengths: number[] = [];
  const { wait } = Pace.prototype;
  const { wait: waitUnpaced } = unpaced;
  Pace.prototype.wait = async (milliseconds) => {
    lengths.push(milliseconds);
    await onWait(milliseconds);
  };
  unpaced.wait = Pace.prototype.wait;
  return {
    lengths,
    [Symbol.dispose]() {
      Pace.prototype.wait = wait;
      unpaced.wait = waitUnpaced;
    },
  };
}
