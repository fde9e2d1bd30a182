import { UserError } from "../../user-error.ts";
import { type Filter, readFilters } from "./event-filter.ts";
import { findFunction, type LocalFunction } from "./functions.ts";
import { findResources, type Properties, type Resolve, type Template } from "./intrinsics.ts";

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
  /** How often a failed batch is retried. */
  readonly retries: number;
  /** How old a record may become before it is given up, in milliseconds. */
  readonly maxAge: number;
  /** Whether a failed batch is split in two. */
  readonly bisects: boolean;
  /** Whether the function reports which records of a batch failed. */
  readonly reportsFailures: boolean;
  /** The name of the queue for batches whose retries are exhausted. */
  readonly failureQueue?: string;
}

const supported = [
  ...["FunctionName", "EventSourceArn", "StartingPosition", "BatchSize", "MaximumBatchingWindowInSeconds"],
  ...["ParallelizationFactor", "MaximumRetryAttempts", "BisectBatchOnFunctionError", "FilterCriteria"],
  ...["FunctionResponseTypes", "DestinationConfig", "Enabled", "MaximumRecordAgeInSeconds"],
  // These have no effect on this machine.
  ...["Tags", "MetricsConfig"],
];

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
  return findResources(template, "AWS::Lambda::EventSourceMapping")
    .filter(([, { Enabled = true }]) => Enabled)
    .map(([id, properties]) => {
      const reader = `event source ${id}`;
      const settings = checkNames(reader, supported, resolve(properties));
      const { OnFailure } = (settings.DestinationConfig ?? {}) as { OnFailure?: { Destination: string } };
      // A name, with that of an alias behind it, or an ARN.
      const [nameOfFunction] = String(settings.FunctionName).split(":");
      const named = functions.find(({ name }) => name === nameOfFunction);
      const responses = (settings.FunctionResponseTypes ?? []) as readonly string[];
      return {
        id,
        streamArn: readStreamArn(reader, settings.EventSourceArn, settings, tableName),
        function: named ?? findFunction(functions, settings.FunctionName, `The ${reader} feeds`),
        ...readDelivery(settings, settings.FilterCriteria, OnFailure?.Destination),
        bisects: settings.BisectBatchOnFunctionError === true,
        reportsFailures: responses.includes("ReportBatchItemFailures"),
      };
    });
}

/** Reads properties of a reader of the stream. @throws UserError for one that the local run does not support */
export function checkNames(reader: string, names: readonly string[], value: unknown): Properties {
  const properties = (value ?? {}) as Properties;
  const unsupported = Object.keys(properties).find((name) => !names.includes(name));
  if (unsupported) throw new UserError(`The local run does not support ${unsupported} of the ${reader}.`);
  return properties;
}

/**
 * Reads the ARN of the stream that a reader reads.
 *
 * @throws UserError when it is not the table's stream or is not read from TRIM_HORIZON
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
 * Reads the settings that have the same names and defaults in an event source mapping and a pipe.
 *
 * @param failureQueue the ARN of the queue for batches whose retries are exhausted
 */
export function readDelivery(
  properties: Properties,
  filterCriteria: unknown,
  failureQueue: string | undefined,
): Omit<EventSource, "id" | "function" | "streamArn" | "bisects" | "reportsFailures"> {
  const readNumber = (name: string, fallback: number) => Number(properties[name] ?? fallback);
  const { Filters = [] } = (filterCriteria ?? {}) as { Filters?: readonly { Pattern: string }[] };
  // -1 in a template means until the record expires.
  const readLimit = (name: string) => {
    const limit = readNumber(name, -1);
    return limit < 0 ? Number.POSITIVE_INFINITY : limit;
  };
  return {
    accepts: readFilters(Filters.map(({ Pattern }) => Pattern)),
    batchSize: readNumber("BatchSize", 100),
    window: readNumber("MaximumBatchingWindowInSeconds", 0) * 1000,
    retries: readLimit("MaximumRetryAttempts"),
    maxAge: readLimit("MaximumRecordAgeInSeconds") * 1000,
    ...(failureQueue !== undefined && { failureQueue: failureQueue.replace(/^.*:/, "") }),
  };
}
