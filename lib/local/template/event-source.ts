import { isRecord } from "../../../shared/json.ts";
import { UserError } from "../../user-error.ts";
import { findFunction, type LocalFunction } from "./functions.ts";
import type { FindResources } from "./intrinsics.ts";

/** A function that the table's stream feeds, and the settings of its event source mapping. */
export type EventSource = ReturnType<typeof readEventSources>[number];

/** A queue that feeds a function with the messages of each group in order. */
export type FunctionQueue = ReturnType<typeof readFunctionQueues>[number];

/** Reads from the template which functions the table's stream feeds. */
export function readEventSources(findResources: FindResources, functions: readonly LocalFunction[]) {
  return findResources("AWS::Lambda::EventSourceMapping").flatMap(({ id, properties }) => {
    if (!properties.StartingPosition) return [];
    const { Filters } = properties.FilterCriteria as { Filters: readonly { Pattern: string }[] };
    const patterns = Filters.map(({ Pattern }) => JSON.parse(Pattern, readValues));
    return {
      /** The logical id. */
      id,
      function: findFunction(functions, properties.FunctionName),
      /** Whether a record passes the filter. */
      accepts: (record: unknown) => patterns.some((pattern) => matches(pattern, record)),
      batchSize: Number(properties.BatchSize),
      /** How long records are gathered into a batch, in milliseconds. */
      window: Number(properties.MaximumBatchingWindowInSeconds ?? 0) * 1000,
    };
  });
}

/** Reads the queues that feed functions from the template. */
export function readFunctionQueues(findResources: FindResources, functions: readonly LocalFunction[]) {
  const queues = findResources("AWS::SQS::Queue");
  return findResources("AWS::Lambda::EventSourceMapping").flatMap(({ properties }) => {
    const queue = queues.find(({ arn }) => arn === properties.EventSourceArn);
    if (!queue) return [];
    const { maxReceiveCount } = queue.properties.RedrivePolicy as { readonly maxReceiveCount: number };
    return {
      url: queue.name,
      function: findFunction(functions, properties.FunctionName),
      /** How often a message is received before it goes to the dead-letter queue. */
      maxReceives: maxReceiveCount,
      /** After how many seconds a message that its function has not handled is received again. */
      visibilityTimeout: Number(queue.properties.VisibilityTimeout),
    };
  });
}

/**
 * Whether an event passes a filter.
 *
 * @param pattern an object of patterns, or a list of functions of which one must accept the value
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
 */
function matches(pattern: unknown, event: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((accepts) => accepts(event));
  const fields = Object.entries(pattern as object);
  return isRecord(event) && fields.every(([name, inner]) => matches(inner, event[name]));
}

/** Reads the lists of values in a pattern, for `JSON.parse`. */
const readValues = (_: string, value: unknown) => (Array.isArray(value) ? value.map(readValue) : value);

/** @throws UserError for values other than exact texts and prefixes, so that they never count as a match */
function readValue(value: unknown) {
  if (typeof value === "string") return (event: unknown) => event === value;
  const { prefix, ...others } = Object(value) as { readonly prefix?: unknown };
  if (typeof prefix !== "string" || Object.keys(others).length > 0)
    throw new UserError(
      `The local run cannot evaluate ${JSON.stringify(value)} of an event source's filter: add it to lib/local/template/event-source.ts.`,
    );
  return (event: unknown) => typeof event === "string" && event.startsWith(prefix);
}
