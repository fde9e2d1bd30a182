/**
 * Works on values, some at once.
 *
 * @throws an error of the work: no other is started after it, and it is thrown when those that were started have ended
 */
export async function forEach<T>(
  values: AsyncGenerator<T>,
  parallel: number,
  work: (value: T) => Promise<unknown>,
): Promise<void> {
  let failed = false;
  const worker = async () => {
    // The workers share one iterator. It ends for all of them when one leaves its loop, but others may hold a value.
    for await (const value of values) {
      if (failed) return;
      await work(value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: parallel }, worker));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}
