import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { EventSource } from "./event-source.ts";
import type { Sign } from "./iam-proxy.ts";
import { type StreamOptions, startStream } from "./stream.ts";
import { createStreamClient } from "./stream-client.ts";
import { StreamPositions } from "./stream-positions.ts";
import { streamArnOf } from "./table-setup.ts";

interface StreamsOptions extends Pick<StreamOptions, "invoke" | "log"> {
  /** Of the engine itself. */
  readonly client: DynamoDBClient;
  readonly endpoint: string;
  readonly sign: Sign;
  readonly tableName: string;
  /** Where positions are kept; without it, the next run starts anew. */
  readonly file: string | undefined;
}

/** Feeds the functions that the table's stream is the source of. @returns how to stop it */
export async function startStreams(
  sources: readonly EventSource[],
  { client, endpoint, sign, tableName, file, invoke, log }: StreamsOptions,
): Promise<() => Promise<unknown>> {
  if (sources.length === 0) return async () => {};
  const positions = await StreamPositions.open(file);
  const streamArn = await streamArnOf(client, tableName);
  const options = { client: createStreamClient(endpoint, sign), streamArn, positions, invoke, log };
  const streams = sources.map((source) => startStream(source, options));
  return () => Promise.all(streams.map(({ stop }) => stop()));
}
