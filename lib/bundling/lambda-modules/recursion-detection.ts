/**
 * The middleware that passes Lambda's trace on to the service. Replaces the SDK's, with the store that it loads for it.
 *
 * Safe: Lambda needs the header to detect loops through queues, topics and buckets, and functions call none of them.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const getRecursionDetectionPlugin = () => ({ applyToStack() {} });
