import { setTimeout } from "node:timers/promises";
import type { ServiceEvent } from "../../../shared/domain/event-schemas.ts";
import { eventSource } from "../../../shared/domain/events.ts";
import type { Wait } from "../../../shared/dynamodb/pace.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { table as tableClient } from "../../../shared/dynamodb/table-client.ts";
import { isTableBusy } from "../../../shared/dynamodb/throttling.ts";
import { stageTableName } from "../../../shared/stages.ts";
import { errorMessage, UserError } from "../../errors.ts";
import { operatorConfig, type TableOptions } from "../common/options.ts";

/** The most events of one call. Ten of the largest have less than the 256 KB that every region accepts. */
export const maxEntries = 10;

/** How long events that the bus does not take are put again, in milliseconds. */
const patience = 60_000;

/** @see https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html */
const retryableCodes = new Set<unknown>(["InternalFailure", "InternalException", "ThrottlingException"]);

/** The options that name a bus. */
export interface BusOptions extends TableOptions {
  readonly bus?: string;
}

/** The name of the bus. @throws UserError if the options do not name it */
export function findBus({ local, stage, table, bus }: BusOptions): string {
  if (local)
    throw new UserError(
      "The local run sends all events again if you stop it, delete stream.json in its data directory, and start it.",
    );
  // The bus of a stage has the name of its table.
  const name = bus ?? (stage && stageTableName(stage));
  if (!name) throw new UserError(`Name the event bus of the table ${table}: --bus NAME.`);
  return name;
}

/** Puts at most `maxEntries` events on a bus, marked as repetitions. */
export type PutEvents = (events: readonly ServiceEvent[]) => Promise<void>;

/**
 * Connects to an event bus in the region of the selected table.
 *
 * @throws UserError when it does not exist: EventBridge would accept the events, and drop them
 */
export async function openEventBus(name: string, wait: Wait = setTimeout): Promise<PutEvents> {
  // No other command needs the package.
  const { DescribeEventBusCommand, EventBridgeClient, PutEventsCommand } = await import(
    "@aws-sdk/client-eventbridge"
  );
  const client = new EventBridgeClient({ ...operatorConfig, region: tableClient.config.region });
  const describe = async (error: unknown): Promise<never> => {
    if (error instanceof Error && error.name === "ResourceNotFoundException")
      throw new UserError(`There is no event bus ${name} in the region ${await client.config.region()}.`);
    if (!isTableBusy(error)) throw error;
    throw new UserError(`The event bus ${name} cannot be reached or is busy (${errorMessage(error)}).`);
  };
  await client.send(new DescribeEventBusCommand({ Name: name })).catch(describe);
  return async (events) => {
    let entries = events.map((event) => toEntry(name, event));
    let codes: readonly string[] = [];
    const attempt = async () => {
      const { Entries: results = [] } = await client.send(new PutEventsCommand({ Entries: entries }));
      entries = entries.filter((_, i) => results[i]?.ErrorCode !== undefined);
      codes = results.flatMap(({ ErrorCode }) => ErrorCode ?? []);
      const kinds = [...new Set(codes)].join(", ");
      if (codes.length > 0)
        throw new UserError(`The event bus ${name} did not take ${codes.length} events (${kinds}).`);
    };
    const isRetryable = (error: unknown) =>
      error instanceof UserError ? codes.every((code) => retryableCodes.has(code)) : isTableBusy(error);
    const deadline = Date.now() + patience;
    await withRetry(attempt, { deadline, isRetryable, wait }).catch(describe);
  };
}

const toEntry = (bus: string, event: ServiceEvent) => ({
  EventBusName: bus,
  Source: eventSource,
  DetailType: event.type,
  Detail: JSON.stringify({ ...event, repeated: true }),
});
