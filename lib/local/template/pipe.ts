import { UserError } from "../../errors.ts";
import type { BusParameters } from "../streams/event-bus.ts";
import { type EventSource, readDelivery, readStreamArn } from "./event-source.ts";
import type { LocalFunction } from "./functions.ts";
import { findResources, type Properties, type Resolve, type Template } from "./intrinsics.ts";

/** A pipe that feeds a bus from the table's stream: a source whose function makes events of the records. */
export interface Pipe extends EventSource {
  readonly bus: BusParameters;
}

/** Every property that is imitated, or that makes no difference on this machine: names, and the age of records. */
const known = {
  pipe: ["Name", "Tags", "Source", "SourceParameters", "Enrichment", "Target", "TargetParameters"],
  source: ["DynamoDBStreamParameters", "FilterCriteria"],
  stream: [
    ...["StartingPosition", "BatchSize", "MaximumBatchingWindowInSeconds", "ParallelizationFactor"],
    ...["OnPartialBatchItemFailure", "MaximumRetryAttempts", "MaximumRecordAgeInSeconds", "DeadLetterConfig"],
  ],
  target: ["EventBridgeEventBusParameters"],
  bus: ["Source", "DetailType"],
};

/** Reads from the template which pipes the table's stream feeds; what cannot be imitated here is an error. */
export function readPipes(
  template: Template,
  resolve: Resolve,
  functions: readonly LocalFunction[],
  tableName: string,
): Pipe[] {
  // The run itself reads the stream and logs what fails, so it needs neither the role nor the log group.
  return findResources(template, "AWS::Pipes::Pipe").map(([id, { RoleArn, LogConfiguration, ...given }]) => {
    const part = (name: keyof typeof known, value: unknown) => knownOnly(id, known[name], value);
    const pipe = part("pipe", resolve(given));
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

function knownOnly(id: string, names: readonly string[], value: unknown): Properties {
  const properties = (value ?? {}) as Properties;
  const unknown = Object.keys(properties).find((name) => !names.includes(name));
  if (unknown) throw new UserError(`The local run does not know ${unknown} of the pipe ${id}.`);
  return properties;
}

function findEnrichment(functions: readonly LocalFunction[], arn: unknown, id: string): LocalFunction {
  const found = functions.find((fn) => fn.arn === arn);
  if (!found) throw new UserError(`The pipe ${id} is enriched by ${arn}, which is no function here.`);
  return found;
}

function readBus(target: unknown, { Source, DetailType }: Properties, id: string): BusParameters {
  const [, typeField] = /^\$\.(\w+)$/.exec(String(DetailType)) ?? [];
  const isBus = /:event-bus\/.+$/.test(String(target));
  if (!isBus || !typeField || typeof Source !== "string" || Source.startsWith("$"))
    throw new UserError(
      `The local run knows of the pipe ${id} only an event bus as its target, a Source that is no path and a DetailType that is the path of one field.`,
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
