import type { Invoke } from "../template/functions.ts";
import type { LocalStack } from "../template/template.ts";
import { type EventBusOptions, putOnBus } from "./event-bus.ts";
import { startStream } from "./stream.ts";
import type { StreamClient } from "./stream-client.ts";
import { openPositions } from "./stream-positions.ts";

interface StreamsOptions extends EventBusOptions {
  readonly client: StreamClient;
  /** The stream's ARN in the engine. */
  readonly streamArn: string;
  /** The file that keeps the positions; without it, the next run starts from the oldest record. */
  readonly file: string | undefined;
  readonly invoke: Invoke;
}

/** Feeds functions and pipes from the table's stream. @returns the function that stops it */
export function startStreams(
  { eventSources, pipes }: Pick<LocalStack, "eventSources" | "pipes">,
  { client, streamArn, file, invoke, ...bus }: StreamsOptions,
): () => void {
  const options = { client, streamArn, positions: openPositions(file), log: bus.log };
  const streams = [
    ...eventSources.map((source) =>
      startStream(source, {
        ...options,
        deliver: (records) => invoke(source.function, JSON.stringify({ Records: records })),
      }),
    ),
    ...pipes.map((pipe) =>
      startStream(pipe, {
        ...options,
        // A pipe passes the records without the envelope that an event source mapping adds.
        deliver: async (records) =>
          putOnBus(pipe.bus, await invoke(pipe.function, JSON.stringify(records)), bus),
      }),
    ),
  ];
  return () => {
    for (const { stop } of streams) stop();
  };
}
