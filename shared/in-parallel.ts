/** How many items are worked on at once, unless the caller says. */
const parallelItems = 16;

/** Runs a task for each item, some at once. After one has failed, no other starts. @throws the first error */
export async function inParallel<T>(
  items: readonly T[] | AsyncGenerator<T>,
  run: (item: T) => Promise<unknown>,
  most = parallelItems,
): Promise<void> {
  // The workers share one iterator. A generator ends for all when one leaves its loop, but others may hold an item.
  const queue = "values" in items ? items.values() : items;
  let isFailed = false;
  const worker = async () => {
    for await (const item of queue) {
      if (isFailed) return;
      try {
        await run(item);
      } catch (error) {
        isFailed = true;
        throw error;
      }
    }
  };
  await settledAll(Array.from({ length: most }, worker));
}

/** Waits for all, so that none goes on after another has failed. @throws the first error */
export async function settledAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
