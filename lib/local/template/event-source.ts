import { UserError } from "../../user-error.ts";
import { type Filter, readFilters } from "./event-filter.ts";
import { findFunction, type LocalFunction } from "./functions.ts";
import { findResources, lambdaArn, type Properties, type Resolve, type Template } from "./intrinsics.ts";

/** A function that the table's stream feeds, and the settings of its event source mapping. */
export interface EventSource {
  /** The logical id. */
  readonly id: string;
  readonly function: LocalFunction;
  /** The stream's ARN in the template. */
  readonly streamArn: string;
  /** Whether a record passes the filter. */
  readonly accepts: Filter;
  readonly batchSize: number;
  /** How long records are gathered into a batch, in milliseconds. */
  readonly window: number;
  /** How old a record may become before it is given up, in milliseconds. */
  readonly maxAge: number;
  /** Whether the function reports which records of a batch failed. */
  readonly reportsFailures: boolean;
  /** The name of the queue for records that became too old. */
  readonly failureQueue: string;
}

/**
 * Reads from the template which functions the table's stream feeds.
 *
 * @throws UserError for settings that the local run does not support
 */
export function readEventSources(
  template: Template,
  resolve: Resolve,
  functions: readonly LocalFunction[],
  tableName: string,
): EventSource[] {
  return findResources(template, "AWS::Lambda::EventSourceMapping").map(([id, properties]) => {
    const reader = `event source ${id}`;
    const settings = resolve(properties) as Properties;
    const { OnFailure } = settings.DestinationConfig as { OnFailure: { Destination: string } };
    const responses = (settings.FunctionResponseTypes ?? []) as readonly string[];
    const bisects = settings.BisectBatchOnFunctionError === true;
    return {
      id,
      streamArn: readStreamArn(reader, settings.EventSourceArn, { ...settings, bisects }, tableName),
      // A name, with that of an alias behind it.
      function: findFunction(functions, lambdaArn + settings.FunctionName, `The ${reader} feeds`),
      ...readDelivery(settings, settings.FilterCriteria, OnFailure.Destination),
      reportsFailures: responses.includes("ReportBatchItemFailures"),
    };
  });
}

/**
 * Reads the ARN of the stream that a reader reads.
 *
 * @throws UserError when it is not the table's stream, is not read from TRIM_HORIZON, or a failed batch is not split in
 * two and retried until it is too old
 */
export function readStreamArn(
  reader: string,
  arn: unknown,
  { StartingPosition, MaximumRetryAttempts, bisects }: Properties,
  tableName: string,
): string {
  const isTableStream = String(arn).endsWith(`:table/${tableName}/stream/local`);
  if (isTableStream && StartingPosition === "TRIM_HORIZON" && MaximumRetryAttempts === -1 && bisects)
    return String(arn);
  throw new UserError(
    `The ${reader} does not read the stream of the table ${tableName} from TRIM_HORIZON, bisecting and retrying a failed batch without a limit: the local run supports nothing else.`,
  );
}

/**
 * Reads the settings that have the same names and defaults in an event source mapping and a pipe.
 *
 * @param failureQueue the ARN of the queue for records that became too old
 */
export function readDelivery(
  properties: Properties,
  filterCriteria: unknown,
  failureQueue: string,
): Omit<EventSource, "id" | "function" | "streamArn" | "reportsFailures"> {
  const readNumber = (name: string, fallback: number) => Number(properties[name] ?? fallback);
  const { Filters = [] } = (filterCriteria ?? {}) as { Filters?: readonly { Pattern: string }[] };
  return {
    accepts: readFilters(Filters.map(({ Pattern }) => Pattern)),
    batchSize: readNumber("BatchSize", 100),
    window: readNumber("MaximumBatchingWindowInSeconds", 0) * 1000,
    maxAge: Number(properties.MaximumRecordAgeInSeconds) * 1000,
    failureQueue: failureQueue.replace(/^.*:/, ""),
  };
}
