/**
 * Lambda detects loops of functions and queues, topics or buckets by a header of their requests. DynamoDB is none of them.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const getRecursionDetectionPlugin = () => ({ applyToStack() {} });
