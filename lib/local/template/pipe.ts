import { UserError } from "../../user-error.ts";
import { checkNames, type EventSource, readDelivery, readStreamArn } from "./event-source.ts";
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

/** Every property that is supported, or has no effect on this machine: names. */
const supported = {
  pipe: ["Name", "Tags", "Source", "SourceParameters", "Enrichment", "Target", "TargetParameters"],
  source: ["DynamoDBStreamParameters", "FilterCriteria"],
  stream: [
    ...["StartingPosition", "BatchSize", "MaximumBatchingWindowInSeconds", "ParallelizationFactor"],
    ...["OnPartialBatchItemFailure", "MaximumRetryAttempts", "MaximumRecordAgeInSeconds", "DeadLetterConfig"],
  ],
  target: ["EventBridgeEventBusParameters"],
  bus: ["Source", "DetailType"],
};

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
    const part = (name: keyof typeof supported, value: unknown) => checkNames(reader, supported[name], value);
    const pipe = part("pipe", resolve(others));
    const source = part("source", pipe.SourceParameters);
    const stream = part("stream", source.DynamoDBStreamParameters);
    const { Arn: queue } = stream.DeadLetterConfig as { Arn: string };
    const bisects = stream.OnPartialBatchItemFailure === "AUTOMATIC_BISECT";
    const bus = part("bus", part("target", pipe.TargetParameters).EventBridgeEventBusParameters);
    return {
      id,
      streamArn: readStreamArn(reader, pipe.Source, { ...stream, bisects }, tableName),
      function: findFunction(functions, pipe.Enrichment, `The ${reader} is enriched by`),
      bus: readBus(pipe.Target, bus, id),
      ...readDelivery(stream, source.FilterCriteria, queue),
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
