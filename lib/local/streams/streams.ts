import { join } from "node:path";
import type { Invoke } from "../template/functions.ts";
import type { LocalStack } from "../template/template.ts";
import { openLocalEventBus } from "./local-event-bus.ts";
import { startStream } from "./stream.ts";
import type { StreamClient } from "./stream-client.ts";
import { openPositions } from "./stream-positions.ts";

interface StreamsOptions {
  readonly client: StreamClient;
  /** The stream's ARN in the engine. */
  readonly streamArn: string;
  /** The directory that keeps positions; without it, the next run starts from the oldest record. */
  readonly directory: string | undefined;
  /** Where events are posted; without it, they are only logged. */
  readonly eventsUrl: string | undefined;
  readonly invoke: Invoke;
  readonly log: (line: string) => void;
}

/** Feeds functions and pipes from the table's stream. @returns the function that stops it */
export function startStreams(
  { eventSources, pipes }: Pick<LocalStack, "eventSources" | "pipes">,
  { client, streamArn, directory, eventsUrl, invoke, log }: StreamsOptions,
): () => void {
  const options = {
    client,
    streamArn,
    positions: openPositions(directory && join(directory, "stream.json")),
    log,
  };
  const bus = openLocalEventBus({ eventsUrl, log });
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
        deliver: async (records) => bus.put(pipe.bus, await invoke(pipe.function, JSON.stringify(records))),
      }),
    ),
  ];
  return () => {
    for (const { stop } of [...streams, bus]) stop();
  };
}
