import { rm } from "node:fs/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import type { EventType } from "../../../shared/domain/event-schemas.ts";
import { eventTypes } from "../../../shared/domain/events.ts";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import { parseTimestamp } from "../../../shared/timestamps.ts";
import { UserError } from "../../errors.ts";
import { countAccounts } from "../accounts/account-items.ts";
import { toPartialFailure } from "../common/aws-errors.ts";
import { parseRate } from "../common/for-each-at-rate.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, writingAccountOrAllCommand } from "../common/options.ts";
import { type Pace, unitsOption, type Wait } from "../common/pace.ts";
import { withProgress } from "../common/progress.ts";
import { type BusOptions, findBus, openEventBus, type PutEvents } from "./event-bus.ts";
import { type Position, readPosition, savePosition } from "./progress-file.ts";
import { type EventCounts, republish } from "./republish.ts";
import type { Selection } from "./stored-events.ts";

/** The options of `events republish`. Times are in milliseconds since the epoch. */
interface RepublishOptions extends AccountsOptions, BusOptions {
  readonly since: number;
  readonly until?: number;
  readonly types: readonly EventType[];
  readonly rate: number;
  readonly progress?: string;
  readonly dryRun?: boolean;
}

/** The types of events that stored items have. */
export const eventTypeNames: readonly EventType[] = [...eventTypes.values()];

/** `events republish`: puts events on the bus again, from the items in the table. */
export function eventsCommand(wait?: Wait): Command {
  const republishCommand = writingAccountOrAllCommand(
    "republish",
    "send the events of stored leads, conversations and messages, and of erased leads again, marked as repetitions",
  )
    .addOption(
      new Option("--since <time>", "the first time of creation, such as 2026-01-31T09:30:00Z or 1769851800")
        .argParser(parseTime)
        .makeOptionMandatory(),
    )
    .option("--until <time>", "the time of creation at which to end, exclusive (default: now)", parseTime)
    .addOption(
      new Option("--types <types>", "only these types, separated by commas")
        .argParser(parseTypes)
        .default(eventTypeNames, "all"),
    )
    .option("--rate <events>", "the maximum number of events per second", parseRate, 100)
    .addOption(unitsOption())
    .addOption(new Option("--bus <name>", "the event bus (default: that of the stage)").conflicts("local"))
    .option("--progress <file>", "keep the progress in a file, and continue from it")
    .action((options: RepublishOptions) => republishEvents(options, wait));
  return new Command("events").description("send the events of accounts again").addCommand(republishCommand);
}

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

async function republishEvents(options: RepublishOptions, wait?: Wait): Promise<void> {
  const pace = await selectPacedAccounts(options, wait);
  const { account, types, since, progress, dryRun } = options;
  const put = dryRun ? undefined : await connect(options, pace);
  const from = progress === undefined ? undefined : await readPosition(progress, toTask(options));
  const { until = from?.until ?? Date.now() } = options;
  if (since >= until) throw new UserError("The time of --since must be before that of --until.");
  const accounts = account === undefined ? [...(await countAccounts(pace)).keys()] : [account];
  const selection = { accounts, types, since, until };
  const count = () => republish(selection, { pace, after: from?.key });
  const events = put ? await send(options, selection, { pace, put, from, count }) : await count();
  report(options, selection, events);
}

async function connect(options: RepublishOptions, { wait }: Pace): Promise<PutEvents> {
  const { name, config } = await findBus(options);
  return openEventBus(name, config, wait);
}

/** Options that only change the speed may differ when the command continues. */
const toTask = ({ local, stage, table, bus, account, since, types, until }: RepublishOptions) => ({
  ...{ local, stage, table, bus, account, since, until, types },
});

interface Sending {
  readonly pace: Pace;
  readonly put: PutEvents;
  readonly from: Position | undefined;
  readonly count: () => Promise<EventCounts>;
}

async function send(
  options: RepublishOptions,
  selection: Selection,
  { pace, put, from, count }: Sending,
): Promise<EventCounts> {
  const { rate, progress } = options;
  let sent = from?.sent ?? 0;
  if (sent > 0) console.error(`Continuing after ${sent} events.`);
  try {
    const events = await withProgress(
      "Sending",
      async () => sumCounts(await count()),
      (onRows) => {
        const onSent = async (key: Key, events: number) => {
          sent += events;
          const position = { until: selection.until, key, sent };
          if (progress !== undefined) await savePosition(progress, toTask(options), position);
          onRows(events);
        };
        return republish(selection, { pace, after: from?.key, rate, put, onSent });
      },
    );
    if (progress !== undefined) await rm(progress, { force: true });
    return events;
  } catch (error) {
    const next =
      progress === undefined
        ? "If you run it again, it starts at --since."
        : "Run the command again to continue.";
    throw await toPartialFailure(error, (reason) => `${sent} events were sent. ${reason} ${next}`);
  }
}

/** The number of events of all types. */
const sumCounts = (counts: EventCounts): number =>
  Object.values(counts).reduce((sum, events) => sum + events, 0);

function report({ json, dryRun }: RepublishOptions, { since, until }: Selection, events: EventCounts): void {
  const [from, to] = [since, until].map((time) => new Date(time).toISOString());
  const types = Object.entries(events).map(([type, count]) => `${count} ${type}`);
  const verb = dryRun ? "would be" : "have been";
  const list = types.length > 0 ? ` (${types.join(", ")})` : "";
  console.log(
    json
      ? JSON.stringify({ republished: !dryRun, since: from, until: to, events })
      : `${sumCounts(events)} events from ${from} to before ${to} ${verb} sent again${list}.`,
  );
}
