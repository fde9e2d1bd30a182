import { UserError } from "../../errors.ts";
import { type EventSource, readDelivery, readStreamArn } from "./event-source.ts";
import type { LocalFunction } from "./functions.ts";
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

/** Every property that is supported, or has no effect on this machine: names, and the age of records. */
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
    const part = (name: keyof typeof supported, value: unknown) => checkNames(id, supported[name], value);
    const pipe = part("pipe", resolve(others));
    const source = part("source", pipe.SourceParameters);
    const stream = part("stream", source.DynamoDBStreamParameters);
    const bus = part("bus", part("target", pipe.TargetParameters).EventBridgeEventBusParameters);
    return {
      id,
      streamArn: readStreamArn(`pipe ${id}`, pipe.Source, stream, tableName),
      function: findEnrichment(functions, pipe.Enrichment, id),
      bus: readBus(pipe.Target, bus, id),
      ...readSettings(stream, source.FilterCriteria),
    };
  });
}

function checkNames(id: string, names: readonly string[], value: unknown): Properties {
  const properties = (value ?? {}) as Properties;
  const unsupported = Object.keys(properties).find((name) => !names.includes(name));
  if (unsupported) throw new UserError(`The local run does not support ${unsupported} of the pipe ${id}.`);
  return properties;
}

function findEnrichment(functions: readonly LocalFunction[], arn: unknown, id: string): LocalFunction {
  const fn = functions.find((candidate) => candidate.arn === arn);
  if (!fn) throw new UserError(`The pipe ${id} is enriched by ${arn}, which is not a function of the stack.`);
  return fn;
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

function readSettings(stream: Properties, filterCriteria: unknown) {
  const { Arn: queue } = (stream.DeadLetterConfig ?? {}) as { Arn?: string };
  return {
    ...readDelivery(stream, filterCriteria, queue),
    bisects: stream.OnPartialBatchItemFailure === "AUTOMATIC_BISECT",
    reportsFailures: false,
  };
}
