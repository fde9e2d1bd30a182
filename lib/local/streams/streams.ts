import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { findStreamArn } from "../engine/table-setup.ts";
import type { Invoke } from "../gateway/request-handler.ts";
import type { Sign } from "../iam/iam-proxy.ts";
import type { EventSource } from "../template/event-source.ts";
import type { Pipe } from "../template/pipe.ts";
import { type EventBusOptions, putOnBus } from "./event-bus.ts";
import { startStream } from "./stream.ts";
import { createStreamClient } from "./stream-client.ts";
import { StreamPositions } from "./stream-positions.ts";

/** What reads the table's stream. */
interface StreamReaders {
  readonly eventSources: readonly EventSource[];
  readonly pipes: readonly Pipe[];
}

interface StreamsOptions extends EventBusOptions {
  /** Of the engine itself. */
  readonly client: DynamoDBClient;
  readonly endpoint: string;
  readonly sign: Sign;
  readonly tableName: string;
  /** Where positions are kept; without it, the next run starts anew. */
  readonly file: string | undefined;
  readonly invoke: Invoke;
}

/** Feeds the functions that the table's stream is the source of, and the pipes. @returns how to stop it */
export async function startStreams(
  { eventSources, pipes }: StreamReaders,
  { client, endpoint, sign, tableName, file, invoke, ...bus }: StreamsOptions,
): Promise<() => Promise<unknown>> {
  const positions = await StreamPositions.open(file);
  const streamArn = await findStreamArn(client, tableName);
  const options = { client: createStreamClient(endpoint, sign), streamArn, positions, log: bus.log };
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
        // A pipe passes the records on as they are, without the envelope that Lambda's own source gives them.
        deliver: async (records) =>
          putOnBus(pipe.bus, await invoke(pipe.function, JSON.stringify(records)), bus),
      }),
    ),
  ];
  return () => Promise.all(streams.map(({ stop }) => stop()));
}
