import type { DynamoDBRecord } from "aws-lambda";
import { countNodeKey, nodePrefix } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { idTimestamp } from "../../../shared/ids.ts";
import { countedChanges } from "../../../shared/pages/maintain/changes.ts";
import { maintainLists } from "../../../shared/pages/maintain/maintain-lists.ts";
import { itemSize } from "../../support/memory-table/item-size.ts";
import type { MemoryTable } from "../../support/memory-table/memory-table.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";
import { advanceClock } from "./clock.ts";
import { type LeadRow, type RowFilter, rowItem } from "./lead-rows.ts";
import { type Cost, metered, useMeteredTable } from "./metered-table.ts";

/** The most records of a stream batch, and how long an invocation may work, in milliseconds. */
const batchSize = 1000;
const invocationTime = 55_000;

/** An account alone in a table, whose leads are not counted yet, and the rows with which every response is compared. */
export class Account {
  readonly name: string;
  /** The rows of the leads, oldest first. */
  readonly rows: LeadRow[];
  /** The records of changes that the maintainer has not got yet. */
  readonly stream: DynamoDBRecord[] = [];
  readonly memory: MemoryTable;

  /** @param others items beside the leads */
  constructor(name: string, rows: LeadRow[], others: Iterable<Item> = []) {
    this.name = name;
    this.rows = rows;
    console.error(`${Math.round(performance.now() / 1000)} s: ${name}, ${rows.length} leads`);
    let isLoaded = false;
    this.memory = useMeteredTable({
      onChange: ({ before, after }) => {
        if (isLoaded && /^(LEAD|CONVERSATION)#/.test(String((after ?? before)?.pk)))
          this.stream.push(streamRecord(before, after));
      },
    });
    for (const row of rows) this.memory.put(rowItem(name, row));
    for (const item of others) this.memory.put(item);
    isLoaded = true;
  }

  /** The rows that match a filter, oldest first. */
  matching({ status, source }: RowFilter): readonly LeadRow[] {
    return this.rows.filter(
      (row) =>
        (status === undefined || row.status === status) && (source === undefined || row.source === source),
    );
  }

  /** Counts all leads, also in the lists of their sources: the maintainer gets the newest one. */
  async count(): Promise<Cost> {
    const newest = this.rows.at(-1);
    if (newest) this.stream.push(streamRecord(undefined, rowItem(this.name, newest), idTimestamp(newest.id)));
    return this.deliver();
  }

  /** Delivers a batch of the stream, as the deployed function and its event source do. @returns what counting it cost */
  async deliver(wait = async (milliseconds: number) => advanceClock(milliseconds)): Promise<Cost> {
    const changes = countedChanges(this.stream.splice(0, batchSize));
    const deadline = Date.now() + invocationTime;
    const { result: unfinished, cost } = await metered(() => maintainLists(changes, { deadline, wait }));
    if (unfinished[0]) throw unfinished[0].error ?? new Error("The batch was not counted in time.");
    return cost;
  }

  /** The size of the tree of all leads; `root` and `largest node` in bytes, as DynamoDB counts them. */
  tree() {
    const { pk } = countNodeKey("lead", this.name, "");
    const items = [...this.memory.items()].filter((item) => item.pk === pk);
    const nodes = items.filter(({ sk }) => String(sk).startsWith(nodePrefix));
    const root = items.find(({ sk }) => sk === "root");
    return {
      levels: Math.max(0, ...nodes.map(({ sk }) => Number(String(sk).split("#")[2]))),
      nodes: nodes.length,
      root: root ? itemSize(root) : 0,
      "largest node": nodes.reduce((most, node) => Math.max(most, itemSize(node)), 0),
    };
  }
}
