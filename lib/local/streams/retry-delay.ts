/** How long a delivery that failed waits for its next attempt, in milliseconds. @param failures how many failed before it */
export const retryDelay = (failures: number) => Math.min(100 * 2 ** failures, 10_000);
