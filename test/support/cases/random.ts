/** Pseudo-random numbers from 0 to below 1, the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Picks values in proportion to their shares, which can have any sum. */
export function skewed<T>(random: () => number, shares: readonly (readonly [T, number])[]): () => T {
  const total = shares.reduce((sum, [, share]) => sum + share, 0);
  const [[first] = []] = shares;
  if (first === undefined) throw new Error("There are no values to pick from.");
  return () => {
    let remaining = random() * total;
    for (const [value, share] of shares) {
      remaining -= share;
      if (remaining < 0) return value;
    }
    return first;
  };
}

/** The same values in another order. */
export function shuffled<T>(random: () => number, values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}

/** One of the values, each with the same probability. */
export function pick<const T>(random: () => number, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error("There are no values to pick from.");
  return value;
}
