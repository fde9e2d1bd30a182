import { UserError } from "../../user-error.ts";
import { type EventSource, readDelivery, readStreamArn } from "./event-source.ts";
import { findFunction, type LocalFunction } from "./functions.ts";
import { findResources, type Properties, type Resolve, type Template } from "./intrinsics.ts";

/** A pipe from the table's stream to an event bus; its enrichment function makes events of the records. */
export interface Pipe extends EventSource {
  readonly bus: BusParameters;
}

/** How a pipe puts its events on the bus. */
export interface BusParameters {
  /** The `source` of every event. */
  readonly source: string;
  /** The field of an event's detail that becomes its `detail-type`. */
  readonly typeField: string;
}

/** A pipe's properties, each of which has parts. */
type Parts = Readonly<Record<string, Readonly<Record<string, Properties>>>>;

/**
 * Reads from the template which pipes the table's stream feeds.
 *
 * @throws UserError for settings that the local run does not support
 */
export function readPipes(
  template: Template,
  resolve: Resolve,
  functions: readonly LocalFunction[],
  tableName: string,
): Pipe[] {
  // The run itself reads the stream and logs failures, so it needs neither the role nor the log group.
  return findResources(template, "AWS::Pipes::Pipe").map(([id, { RoleArn, LogConfiguration, ...others }]) => {
    const reader = `pipe ${id}`;
    const pipe = resolve(others) as Parts;
    const { DynamoDBStreamParameters: stream = {}, FilterCriteria: filters } = pipe.SourceParameters ?? {};
    const { Arn: queue } = stream.DeadLetterConfig as { Arn: string };
    const bisects = stream.OnPartialBatchItemFailure === "AUTOMATIC_BISECT";
    const bus = pipe.TargetParameters?.EventBridgeEventBusParameters ?? {};
    return {
      id,
      streamArn: readStreamArn(reader, pipe.Source, { ...stream, bisects }, tableName),
      function: findFunction(functions, pipe.Enrichment, `The ${reader} is enriched by`),
      bus: readBus(pipe.Target, bus, id),
      ...readDelivery(stream, filters, queue),
      reportsFailures: false,
    };
  });
}

function readBus(target: unknown, { Source, DetailType }: Properties, id: string): BusParameters {
  const [, typeField] = /^\$\.(\w+)$/.exec(String(DetailType)) ?? [];
  const isBus = /:event-bus\/.+$/.test(String(target));
  if (!isBus || !typeField || typeof Source !== "string" || Source.startsWith("$"))
    throw new UserError(
      `The pipe ${id} must have an event bus as its target, a fixed Source and a DetailType that is the path of one field: the local run supports no others.`,
    );
  return { source: Source, typeField };
}
