import { type Counting, countAll, countSublists } from "../count-sublists.ts";
import { growLists } from "../grow-lists.ts";
import { conversationList, type MeasuredList } from "../measured-list.ts";
import type { Population } from "../population.ts";
import { type ListReading, readList } from "../read-list.ts";
import type { ConversationRow } from "../rows.ts";

/** The cost of the lists of one lead. */
export interface LeadReport {
  /** How many conversations the lead has. */
  readonly size: number;
  /** Whether each of them has a channel of its own. */
  readonly ownChannels: boolean;
  readonly sublists: Counting;
  readonly readings: readonly ListReading[];
  /** After the lead got more conversations. */
  readonly grown: readonly ListReading[];
}

/** How many random pages of a list are read, before and after conversations are added to it. */
const randomPages = 100;
const randomGrownPages = 30;

/** Counts an account and reads the lists of one of its leads. */
export async function readLead(
  population: Population<ConversationRow>,
  leadId: string,
  ownChannels: boolean,
): Promise<Omit<LeadReport, "size" | "ownChannels">> {
  const lists = listsOf(population, leadId, ownChannels);
  await countAll(population.account, population.matching({}));
  const sublists = await countSublists(lists.slice(0, 1));
  const readings = await readEach(lists, randomPages);
  const kinds = [{ status: "active", leadId, channel: ownChannels ? "channel-new" : "web-chat" }] as const;
  await growLists(population, "conv", kinds);
  return { sublists, readings, grown: await readEach(lists, randomGrownPages) };
}

async function readEach(lists: readonly MeasuredList[], random: number): Promise<ListReading[]> {
  const readings: ListReading[] = [];
  for (const list of lists) readings.push(await readList(list, { random, cold: true }));
  return readings;
}

function listsOf(
  population: Population<ConversationRow>,
  leadId: string,
  ownChannels: boolean,
): MeasuredList[] {
  const rows = population.matching({ leadId });
  const middle = rows.slice(Math.floor(rows.length / 2)).slice(0, 1);
  const channels = ownChannels ? middle.map(({ channel }) => channel) : ["web-chat", "fax"];
  const filters: readonly Omit<Partial<ConversationRow>, "id" | "leadId">[] = [
    {},
    { status: "active" },
    { status: "ended" },
    ...channels.flatMap((channel) => [
      { channel },
      { channel, status: "active" as const },
      { channel, status: "ended" as const },
    ]),
  ];
  return filters.map((filter) =>
    conversationList(population, { ...filter, leadId }, `lead${name(filter, ownChannels)}`),
  );
}

/** A channel that is the only one of its kind needs no name. */
const name = ({ status, channel }: Partial<ConversationRow>, ownChannels: boolean) =>
  [channel && (ownChannels ? "its own channel" : channel), status]
    .map((word) => word && ` + ${word}`)
    .join("");
