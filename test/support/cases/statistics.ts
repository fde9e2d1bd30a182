/** The median of numbers, and the largest. */
export const spread = (numbers: readonly number[]) => ({
  median: percentile(numbers, 0.5),
  worst: percentile(numbers, 1),
});

/** The number below which the given part of the numbers is; the largest number for the part 1; NaN without numbers. */
export function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

export const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

export const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;
