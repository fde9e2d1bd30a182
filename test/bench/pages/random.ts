/** Numbers from 0 to below 1 that look random and are the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Picks values as often as their shares say; the shares need no particular sum. */
export function skewed<T>(random: () => number, shares: readonly (readonly [T, number])[]): () => T {
  const total = shares.reduce((sum, [, share]) => sum + share, 0);
  const [[first] = []] = shares;
  if (first === undefined) throw new Error("There is nothing to pick from.");
  return () => {
    let left = random() * total;
    for (const [value, share] of shares) {
      left -= share;
      if (left < 0) return value;
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
