import { InvalidArgumentError } from "commander";
import type { EventType } from "../../../shared/domain/event-schemas.ts";
import { eventTypes } from "../../../shared/domain/events.ts";
import { table as tableClient } from "../../../shared/dynamodb/table-client.ts";
import { stageTableName } from "../../../shared/stages.ts";
import { parseTimestamp } from "../../../shared/timestamps.ts";
import { UserError } from "../../errors.ts";
import { readLocalRun } from "../common/local-run-file.ts";
import { type AccountsOptions, localConfig, operatorConfig } from "../common/options.ts";

/** The options of `events republish`. Times are in milliseconds since the epoch. */
export interface RepublishOptions extends AccountsOptions {
  readonly since: number;
  readonly until?: number;
  readonly types: readonly EventType[];
  readonly rate: number;
  readonly bus?: string;
  readonly progress?: string;
  readonly dryRun?: boolean;
}

/** The types of events that stored items have. */
export const eventTypeNames: readonly EventType[] = [...eventTypes.values()];

/** A list of types of events, separated by commas. */
export function parseTypes(text: string): EventType[] {
  const names = new Set(text.split(","));
  const types = eventTypeNames.filter((type) => names.has(type));
  if (types.length === names.size) return types;
  throw new InvalidArgumentError(`The types are ${eventTypeNames.join(", ")}, separated by commas.`);
}

/** A time as the messages of a failure queue have it: a timestamp, or seconds or milliseconds since the epoch. */
export function parseTime(text: string): number {
  const time = /^\d{9,10}(?:\.\d+)?$/.test(text)
    ? Math.floor(Number(text) * 1000)
    : /^\d{12,13}$/.test(text)
      ? Number(text)
      : parseTimestamp(text);
  if (time !== undefined && time >= 0) return time;
  throw new InvalidArgumentError(
    "A time is a timestamp such as 2026-01-31T09:30:00Z, or seconds or milliseconds since 1970.",
  );
}

/** The name of the bus, and the settings of its client, in the region of the selected table. @throws UserError if the options do not name it */
export async function findBus({ local, stage, table, bus }: RepublishOptions) {
  if (local) {
    const { eventsEndpoint: endpoint, tableName } = await readLocalRun();
    if (!endpoint) throw new UserError("The running `npm start` has no event bus: restart it.");
    return { name: tableName, config: { ...operatorConfig, ...localConfig, endpoint } };
  }
  // The bus of a stage has the name of its table.
  const name = bus ?? (stage && stageTableName(stage));
  if (!name) throw new UserError(`Name the event bus of the table ${table}: --bus NAME.`);
  return { name, config: { ...operatorConfig, region: tableClient.config.region } };
}
