import { setTimeout } from "node:timers/promises";
import { Command, Option } from "commander";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import { UserError } from "../../errors.ts";
import { countAccounts } from "../accounts/account-items.ts";
import { toPartialFailure } from "../common/aws-errors.ts";
import { parseRate } from "../common/for-each-at-rate.ts";
import { checkAccount } from "../common/known-account.ts";
import { checkAccounts, selectTableByOptions, writingAccountOrAllCommand } from "../common/options.ts";
import { Pace, unitsOption, type Wait } from "../common/pace.ts";
import { withProgress } from "../common/progress.ts";
import { openEventBus, type PutEvents } from "./event-bus.ts";
import { ProgressFile } from "./progress-file.ts";
import { countEvents, type EventCounts, republish, sumCounts } from "./republish.ts";
import {
  eventTypeNames,
  findBus,
  parseTime,
  parseTypes,
  type RepublishOptions,
} from "./republish-options.ts";
import type { Selection } from "./stored-events.ts";

/** `events republish`: puts events on the bus again, from the items in the table. */
export function eventsCommand(wait: Wait = setTimeout): Command {
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

async function republishEvents(options: RepublishOptions, wait: Wait): Promise<void> {
  checkAccounts(options);
  // The pace makes all further attempts, so that it notices every throttle.
  await selectTableByOptions(options, { maxAttempts: 1 });
  const { account } = options;
  const put = options.dryRun ? undefined : await connect(options, wait);
  const pace = new Pace(options.units, wait);
  const file = options.progress === undefined ? undefined : openProgress(options.progress, options);
  const from = await file?.read();
  const { since, until = from?.until ?? Date.now() } = options;
  if (since >= until) throw new UserError("The time of --since must be before that of --until.");
  if (account !== undefined) await checkAccount({ ...options, account }, pace);
  const accounts = account === undefined ? [...(await countAccounts(pace)).keys()] : [account];
  const selection = { accounts, types: options.types, since, until };
  const events = put
    ? await send(options, selection, { pace, put, file, from })
    : await countEvents(selection, pace, from?.key);
  report(options, selection, events);
}

async function connect(options: RepublishOptions, wait: Wait): Promise<PutEvents> {
  const { name, config } = await findBus(options);
  return openEventBus(name, config, wait);
}

/** How far the command came. */
interface Position {
  /** When the events end, in milliseconds since the epoch: the command may have begun without this option. */
  readonly until: number;
  /** The item of the last event. */
  readonly key: Key;
  /** How many events were sent. */
  readonly sent: number;
}

/** Options that only change the speed may differ when the command continues. */
const openProgress = (
  file: string,
  { local, stage, table, bus, account, since, types, until }: RepublishOptions,
) => new ProgressFile<Position>(file, { local, stage, table, bus, account, since, until, types });

interface Sending {
  readonly pace: Pace;
  readonly put: PutEvents;
  readonly file: ProgressFile<Position> | undefined;
  readonly from: Position | undefined;
}

async function send(
  { rate }: RepublishOptions,
  selection: Selection,
  { pace, put, file, from }: Sending,
): Promise<EventCounts> {
  let sent = from?.sent ?? 0;
  if (sent > 0) console.error(`Continuing after ${sent} events.`);
  const onSent = async (key: Key, events: number) => {
    sent += events;
    await file?.save({ until: selection.until, key, sent });
  };
  try {
    const events = await withProgress(
      "Sending",
      async () => sumCounts(await countEvents(selection, pace, from?.key)),
      (onRows) => republish(selection, { pace, rate, put, after: from?.key, onSent, onRows }),
    );
    await file?.remove();
    return events;
  } catch (error) {
    const next = file ? "Run the command again to continue." : "If you run it again, it starts at --since.";
    throw await toPartialFailure(error, (reason) => `${sent} events were sent. ${reason} ${next}`);
  }
}

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
