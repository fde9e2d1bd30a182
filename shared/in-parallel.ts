/** Runs a task for each item, `most` at once. After a task has failed, no other task starts. @throws the first error */
export async function inParallel<T>(
  items: readonly T[] | AsyncGenerator<T>,
  run: (item: T) => Promise<unknown>,
  most = 16,
): Promise<void> {
  // All workers share one iterator. A worker that leaves its loop ends a generator, but other workers may hold an item.
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

/** Waits for all promises, so that no work goes on after this function has thrown. @throws the first error */
export async function settledAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
