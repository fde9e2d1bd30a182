import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { toLead } from "../../shared/domain/leads.ts";
import { leadKey } from "../../shared/dynamodb/keys.ts";
import { type Item, tableName } from "../../shared/dynamodb/table-client.ts";
import type { Slack } from "./reading.ts";
import {
  account,
  createLead,
  type Event,
  landsWithin,
  putLead,
  rowNumber,
  type Scenario,
  startTime,
} from "./scenario.ts";

/** An event that may come next, with its number among all events of the scenario. */
export interface NextEvent {
  readonly event: Event;
  readonly number: number;
  /** How many events of each sequence have happened after it. */
  readonly happened: readonly number[];
}

/** The events of a scenario. Sets of events are bits of their numbers. */
export class Events {
  readonly #sequences: readonly (readonly Event[])[];
  readonly #all: readonly Event[];
  /** When the leads were created, by their numbers. */
  readonly #createdAt = new Map<number, number>();

  constructor({ initial, events }: Scenario) {
    this.#sequences = events;
    this.#all = events.flat();
    for (const [row, age] of initial.flat().entries()) this.#createdAt.set(row, startTime - age * 1000);
    for (const event of this.#all) {
      if ("at" in event) this.#createdAt.set(event.row, startTime + event.at);
    }
  }

  /** The events that may come next: the first one of each sequence that has not happened. */
  next(happened: readonly number[]): NextEvent[] {
    return this.#sequences.flatMap((sequence, i) => {
      const at = happened[i] ?? 0;
      const event = sequence[at];
      const number = this.#sequences.slice(0, i).flat().length + at;
      return event ? [{ event, number, happened: happened.with(i, at + 1) }] : [];
    });
  }

  /** Whether an event that writes a row has not happened yet. */
  writesFollow = (happened: readonly number[]) => this.#rest(happened).some((event) => event.do !== "pass");

  /** Whether a route's write has to land before a time. */
  landsBefore = (happened: readonly number[], time: number) =>
    this.#rest(happened).some((event) => event.do === "create" && startTime + event.at + landsWithin < time);

  /** The write of an event, when it can happen. */
  command(event: Exclude<Event, { do: "pass" }>, clock: number, rows: readonly Item[]) {
    if ("at" in event) {
      const createdAt = startTime + event.at;
      return clock < createdAt ? undefined : putLead(createLead(event.row, createdAt));
    }
    const item = rows.find(({ id }) => rowNumber(String(id)) === event.row);
    if (!item) return undefined;
    const lead = toLead(item);
    if (event.do === "change") return putLead({ ...lead, status: event.status });
    return new DeleteCommand({ TableName: tableName, Key: leadKey(account, lead.id) });
  }

  /** By how many rows totals may be off while a set of events has not been counted. */
  slack(open: number): Slack {
    const count = (kind: Event["do"]) => this.#in(open).filter((event) => event.do === kind).length;
    return { imported: count("import"), deleted: count("delete") };
  }

  /** The sort keys of the rows of a set of events. */
  keys(set: number): string[] {
    return this.#in(set).flatMap((event) => {
      if (event.do === "pass") return [];
      const createdAt = this.#createdAt.get(event.row);
      if (createdAt === undefined) throw new Error(`The scenario has no row ${event.row}.`);
      return createLead(event.row, createdAt).id;
    });
  }

  #in = (set: number) => this.#all.filter((_, number) => set & (1 << number));

  #rest = (happened: readonly number[]) =>
    this.#sequences.flatMap((sequence, i) => sequence.slice(happened[i]));
}
