import { type Filter, readFilter } from "./event-filter.ts";
import { findFunction, type LocalFunction } from "./functions.ts";
import { findResources, lambdaArn, type Resolve, type Template } from "./intrinsics.ts";

/** A function that the table's stream feeds, and the settings of its event source mapping. */
export interface EventSource {
  /** The logical id. */
  readonly id: string;
  readonly function: LocalFunction;
  /** Whether a record passes the filter. */
  readonly accepts: Filter;
  readonly batchSize: number;
  /** How long records are gathered into a batch, in milliseconds. */
  readonly window: number;
}

/** Reads from the template which functions the table's stream feeds. */
export function readEventSources(
  template: Template,
  resolve: Resolve,
  functions: readonly LocalFunction[],
): EventSource[] {
  return findResources(template, "AWS::Lambda::EventSourceMapping").map(([id, properties]) => {
    const { Filters } = properties.FilterCriteria as { Filters: readonly { Pattern: string }[] };
    const filters = Filters.map(({ Pattern }) => readFilter(Pattern));
    return {
      id,
      // A name, with that of an alias behind it.
      function: findFunction(functions, lambdaArn + resolve(properties.FunctionName), `${id} feeds`),
      accepts: (record) => filters.some((matches) => matches(record)),
      batchSize: Number(properties.BatchSize),
      window: Number(properties.MaximumBatchingWindowInSeconds ?? 0) * 1000,
    };
  });
}
