import { Command, InvalidArgumentError, Option } from "commander";
import { type EventType, eventSchemas } from "../../../shared/domain/event-schemas.ts";
import type { Wait } from "../../../shared/dynamodb/pace.ts";
import { parseTimestamp } from "../../../shared/timestamps.ts";
import { UserError } from "../../errors.ts";
import { countAccounts } from "../accounts/account-items.ts";
import { toPartialFailure } from "../common/aws-errors.ts";
import { parseRate } from "../common/for-each-at-rate.ts";
import { selectPacedAccounts } from "../common/known-account.ts";
import { type AccountsOptions, leftOutCodes, writingAccountOrAllCommand } from "../common/options.ts";
import { withProgress } from "../common/progress.ts";
import { Unreadable } from "../common/unreadable.ts";
import { type BusOptions, findBus, openEventBus, type PutEvents } from "./event-bus.ts";
import { type EventCounts, type Republication, republish, type Selection } from "./republish.ts";

/** The options of `events republish`. Times are in milliseconds since the epoch. */
interface RepublishOptions extends AccountsOptions, BusOptions {
  readonly since: number;
  readonly until?: number;
  readonly types: readonly EventType[];
  readonly rate: number;
  readonly dryRun?: boolean;
}

/** The types of events. */
export const eventTypeNames = Object.keys(eventSchemas) as readonly EventType[];

/** `events republish`: puts events on the bus again, from the items in the table. */
export function eventsCommand(wait?: Wait): Command {
  const republishCommand = writingAccountOrAllCommand(
    "republish",
    "send the events of stored items, of their last changes and of erased leads again, marked as repetitions",
  )
    .addOption(
      new Option("--since <time>", "the time at which to begin, such as 2026-01-31T09:30:00Z or 1769851800")
        .argParser(parseTime)
        .makeOptionMandatory(),
    )
    .option("--until <time>", "the time at which to end, exclusive (default: now)", parseTime)
    .addOption(
      new Option("--types <types>", "only these types, separated by commas")
        .argParser(parseTypes)
        .default(eventTypeNames, "all"),
    )
    .option("--rate <events>", "the maximum number of events per second", parseRate, 100)
    .addOption(new Option("--bus <name>", "the event bus (default: that of the stage)").conflicts("local"))
    .addHelpText("after", leftOutCodes)
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
  const { account, types, since, until = Date.now(), dryRun } = options;
  if (since >= until) throw new UserError("The time of --since must be before that of --until.");
  const put = dryRun ? undefined : await openEventBus(findBus(options), pace.wait);
  const unreadable = new Unreadable();
  const accounts =
    account === undefined ? [...(await countAccounts(pace, unreadable.note)).keys()] : [account];
  const selection = { accounts, types, since, until };
  const means = { pace, unreadable };
  const events = put ? await send(options, selection, means, put) : await republish(selection, means);
  report(options, selection, events);
  unreadable.report();
}

async function send(
  { rate }: RepublishOptions,
  selection: Selection,
  means: Pick<Republication, "pace" | "unreadable">,
  put: PutEvents,
): Promise<EventCounts> {
  let sent = 0;
  try {
    return await withProgress(
      "Sending",
      async () => sumCounts(await republish(selection, means)),
      (onRows) => {
        const onSent = (events: number) => {
          sent += events;
          onRows(events);
        };
        return republish(selection, { ...means, rate, put, onSent });
      },
    );
  } catch (error) {
    throw await toPartialFailure(
      error,
      (reason) => `${sent} events were sent. ${reason} If you run it again, it starts at --since.`,
    );
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
