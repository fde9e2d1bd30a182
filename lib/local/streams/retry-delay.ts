/** The pause after a failed delivery, in milliseconds. @param failures how many attempts failed before that one */
export const retryDelay = (failures: number) => Math.min(100 * 2 ** failures, 10_000);
