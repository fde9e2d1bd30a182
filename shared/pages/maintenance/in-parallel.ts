/** How many lists are maintained at once. */
const parallelLists = 8;

/** Runs a task for each item, a few at once. */
export async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  // The workers share one iterator.
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await run(item);
  };
  await Promise.all(Array.from({ length: parallelLists }, worker));
}
