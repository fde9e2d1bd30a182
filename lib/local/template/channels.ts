import { findFunction, type LocalFunction } from "./functions.ts";
import { queueArn, type StackTemplate } from "./intrinsics.ts";

/** A queue that feeds a function, in the order of each group. */
export interface FunctionQueue {
  readonly url: string;
  readonly function: LocalFunction;
  /** How often a message is received before it goes to the dead-letter queue. */
  readonly maxReceives: number;
  /** After how many seconds a message that its function has not handled is received again. */
  readonly visibilityTimeout: number;
}

/** Reads from the template which functions queues feed. */
export function readFunctionQueues(
  { findResources, resolve }: StackTemplate,
  functions: readonly LocalFunction[],
): FunctionQueue[] {
  const queues = findResources("AWS::SQS::Queue");
  return findResources("AWS::Lambda::EventSourceMapping").flatMap(([id, properties]) => {
    const arn = resolve(properties.EventSourceArn);
    const queue = queues.find(([queueId]) => resolve({ "Fn::GetAtt": [queueId, "Arn"] }) === arn);
    if (!queue) return [];
    const { maxReceiveCount } = queue[1].RedrivePolicy as { readonly maxReceiveCount: number };
    return {
      url: String(arn).slice(queueArn.length),
      function: findFunction(functions, resolve(properties.FunctionName), `${id} feeds`),
      maxReceives: maxReceiveCount,
      visibilityTimeout: Number(queue[1].VisibilityTimeout),
    };
  });
}

/** Reads which function has a URL of its own; undefined if none has. */
export function readUrlFunction(
  { findResources, resolve }: StackTemplate,
  functions: readonly LocalFunction[],
): LocalFunction | undefined {
  const [url] = findResources("AWS::Lambda::Url");
  return url && findFunction(functions, resolve(url[1].TargetFunctionArn), "The function URL invokes");
}
