/** Works on values concurrently, and yields the results in the order of the values. */
export async function* inOrder<T, R>(
  values: AsyncIterable<T>,
  parallel: number,
  work: (value: T) => Promise<R>,
): AsyncGenerator<R> {
  const started: Promise<R>[] = [];
  for await (const value of values) {
    const result = work(value);
    // Whoever takes the result gets its error; an earlier one may end the loop before.
    result.catch(() => {});
    started.push(result);
    const first = started.length < parallel ? undefined : started.shift();
    if (first) yield await first;
  }
  for (const result of started) yield await result;
}
