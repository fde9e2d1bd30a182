import { UserError } from "../../errors.ts";
import { type Filter, readFilters } from "./event-filter.ts";
import type { LocalFunction } from "./functions.ts";
import { findResources, type Properties, type Resolve, type Template } from "./intrinsics.ts";

/** A function that is fed from the table's stream, and how. */
export interface EventSource {
  /** The logical id. */
  readonly id: string;
  readonly function: LocalFunction;
  /** The stream's ARN in the template. */
  readonly streamArn: string;
  readonly accepts: Filter;
  readonly batchSize: number;
  /** Milliseconds that a batch is gathered. */
  readonly window: number;
  /** How many batches of a shard are processed at once. */
  readonly lanes: number;
  /** How often a batch that failed is tried again. */
  readonly retries: number;
  /** Whether a batch that failed is split in two. */
  readonly bisects: boolean;
  /** Whether the function says which records of a batch failed. */
  readonly reportsFailures: boolean;
  /** Where batches go that are given up. */
  readonly failureQueue?: string;
}

/** Lambda's own where the template does not say, and EventBridge's. */
const defaults = { batchSize: 100, windowSeconds: 0, lanes: 1, retries: -1 };

/** Settings that make no difference on this machine: nothing here is kept so long that its age matters. */
const ignored = ["MaximumRecordAgeInSeconds", "Tags", "MetricsConfig"];

const known = new Set([
  ...ignored,
  ...["FunctionName", "EventSourceArn", "StartingPosition", "BatchSize", "MaximumBatchingWindowInSeconds"],
  ...["ParallelizationFactor", "MaximumRetryAttempts", "BisectBatchOnFunctionError", "FilterCriteria"],
  ...["FunctionResponseTypes", "DestinationConfig", "Enabled"],
]);

/** Reads from the template which functions the table's stream feeds; what cannot be imitated here is an error. */
export function readEventSources(
  template: Template,
  resolve: Resolve,
  functions: readonly LocalFunction[],
  tableName: string,
): EventSource[] {
  return findResources(template, "AWS::Lambda::EventSourceMapping")
    .filter(([, { Enabled = true }]) => Enabled)
    .map(([id, properties]) => {
      const resolved = resolve(properties) as Properties;
      const unknown = Object.keys(resolved).find((name) => !known.has(name));
      if (unknown) throw new UserError(`The local run does not know ${unknown} of the event source ${id}.`);
      const streamArn = readStreamArn(`event source ${id}`, resolved.EventSourceArn, resolved, tableName);
      return { id, streamArn, function: findFunction(functions, resolved, id), ...readSettings(resolved) };
    });
}

function findFunction(functions: readonly LocalFunction[], { FunctionName }: Properties, id: string) {
  const found = functions.find(({ name, arn }) => FunctionName === name || FunctionName === arn);
  if (!found) throw new UserError(`The event source ${id} feeds ${FunctionName}, which is no function here.`);
  return found;
}

/**
 * The ARN in the template of the stream that a reader reads.
 *
 * @throws UserError when it is not the table's, or not read from its beginning
 */
export function readStreamArn(
  reader: string,
  arn: unknown,
  { StartingPosition }: Properties,
  tableName: string,
): string {
  if (String(arn).endsWith(`:table/${tableName}/stream/local`) && StartingPosition === "TRIM_HORIZON")
    return String(arn);
  throw new UserError(`The ${reader} does not read the stream of the table ${tableName} from TRIM_HORIZON.`);
}

/**
 * Reads what a mapping and a pipe call by the same names.
 *
 * @param failureQueue the ARN of where batches go that are given up
 */
export function readDelivery(
  properties: Properties,
  filterCriteria: unknown,
  failureQueue: string | undefined,
): Pick<EventSource, "accepts" | "batchSize" | "window" | "lanes" | "retries" | "failureQueue"> {
  const number = (name: string, otherwise: number) => Number(properties[name] ?? otherwise);
  const { Filters = [] } = (filterCriteria ?? {}) as { Filters?: readonly { Pattern: string }[] };
  const retries = number("MaximumRetryAttempts", defaults.retries);
  return {
    accepts: readFilters(Filters.map(({ Pattern }) => Pattern)),
    batchSize: number("BatchSize", defaults.batchSize),
    window: number("MaximumBatchingWindowInSeconds", defaults.windowSeconds) * 1000,
    lanes: number("ParallelizationFactor", defaults.lanes),
    // A template says -1 for "until the stream forgets it".
    retries: retries < 0 ? Number.POSITIVE_INFINITY : retries,
    ...(failureQueue !== undefined && { failureQueue: failureQueue.replace(/^.*:/, "") }),
  };
}

function readSettings(properties: Properties) {
  const { OnFailure } = (properties.DestinationConfig ?? {}) as { OnFailure?: { Destination: string } };
  const responses = (properties.FunctionResponseTypes ?? []) as readonly string[];
  return {
    ...readDelivery(properties, properties.FilterCriteria, OnFailure?.Destination),
    bisects: properties.BisectBatchOnFunctionError === true,
    reportsFailures: responses.includes("ReportBatchItemFailures"),
  };
}
