import { type EventSource, readDelivery } from "./event-source.ts";
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

/** The names of a pipe's parameters, each with properties of its own. */
type Parameters = Readonly<Record<string, Properties>>;

/** Reads from the template which pipes the table's stream feeds. */
export function readPipes(template: Template, resolve: Resolve, functions: readonly LocalFunction[]): Pipe[] {
  return findResources(template, "AWS::Pipes::Pipe").map(([id, { Enrichment, ...properties }]) => {
    const source = properties.SourceParameters as Parameters;
    const { EventBridgeEventBusParameters: bus } = properties.TargetParameters as Parameters;
    return {
      id,
      function: findFunction(functions, resolve(Enrichment), `${id} is enriched by`),
      ...readDelivery({ ...source.DynamoDBStreamParameters }, source.FilterCriteria),
      bus: { source: String(bus?.Source), typeField: String(bus?.DetailType).replace("$.", "") },
    };
  });
}
