// The `event` of each kind of log line. Metric filters and operators find log lines by it.

export const request = "request";
export const requestFailed = "request failed";
export const functionFailed = "function failed";
export const rateLimiterFailedOpen = "rate limiter failed open";
export const lateWrites = "late writes";
export const countsFailed = "counts failed";
export const countsBehind = "counts behind";
export const countsGivenUp = "counts given up";
export const countsDamaged = "counts damaged";
export const countsAudited = "counts audited";
export const countsRepaired = "counts repaired";
export const eventsFailed = "events failed";
export const eventRefused = "event refused";
export const invalidItem = "invalid item";
export const senderUnknown = "sender unknown";
export const senderRefused = "sender refused";
export const deliveryFailed = "delivery failed";
