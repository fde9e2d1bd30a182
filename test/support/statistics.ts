/** The median of numbers, and the largest. */
export interface Spread {
  readonly median: number;
  readonly worst: number;
}

export function spread(numbers: readonly number[]): Spread {
  const sorted = numbers.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN, worst: sorted.at(-1) ?? Number.NaN };
}

export const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

export const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;
