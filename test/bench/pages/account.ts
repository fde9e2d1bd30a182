import type { DynamoDBRecord } from "aws-lambda";
import { createLead } from "../../../shared/domain/create-lead.ts";
import { countNodeKey, nodePrefix } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { idTimestamp } from "../../../shared/ids.ts";
import { countedChanges } from "../../../shared/pages/maintain/changes.ts";
import { maintainLists } from "../../../shared/pages/maintain/maintain-lists.ts";
import { pick, seeded } from "../../support/cases/random.ts";
import { itemSize } from "../../support/memory-table/item-size.ts";
import type { MemoryTable } from "../../support/memory-table/memory-table.ts";
import { streamRecord } from "../../support/tables/stream-record.ts";
import { details, type LeadRow, leadItems } from "./lead-rows.ts";
import { advanceClock, type Cost, metered, useMeteredTable } from "./metered-table.ts";

/** The most records of a stream batch, and how long an invocation may work, in milliseconds. */
const [batchSize, invocationTime] = [1000, 55_000];

/** An account alone in a table, and the rows of its leads, with which every response is compared. */
export class Account {
  readonly name: string;
  /** The rows of the leads, oldest first. */
  readonly rows: LeadRow[];
  /** The records of changes that the maintainer has not received yet. The first record lets it count all items. */
  readonly stream: DynamoDBRecord[] = [];
  readonly memory: MemoryTable;
  readonly random = seeded(7);

  constructor(name: string, rows: LeadRow[], items: Iterable<Item> = leadItems(name, rows)) {
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
    let newest: Item | undefined;
    for (const item of items) {
      this.memory.put(item);
      newest = item;
    }
    isLoaded = true;
    if (newest) this.stream.push(streamRecord(undefined, newest, idTimestamp(String(newest.id))));
  }

  /** Delivers a batch of the stream, as the deployed function and its event source do. @returns the cost of counting it */
  async deliver(wait = async (milliseconds: number) => advanceClock(milliseconds)): Promise<Cost> {
    const changes = countedChanges(this.stream.splice(0, batchSize));
    const deadline = Date.now() + invocationTime;
    const { result: unfinished, cost } = await metered(() => maintainLists(changes, { deadline, wait }));
    if (unfinished[0]) throw unfinished[0].error ?? new Error("The batch was not counted in time.");
    return cost;
  }

  /** Creates a lead as the route does, by default with a source in proportion to the sources of the other leads. */
  async createLead(fields: { source?: string; tags?: string[] } = {}): Promise<void> {
    const mark = String(Math.floor(this.random() * 1e10)).padStart(10, "0");
    const { source } = pick(this.random, this.rows);
    const { record } = await createLead(this.name, { ...details(mark), source, ...fields });
    this.rows.push({ id: record.id, status: record.status, source: fields.source ?? source });
  }

  /** The size of the tree of all leads; `root` and `largest node` in bytes, as DynamoDB counts them. */
  tree() {
    const { pk } = countNodeKey("lead", this.name, "");
    const items = [...this.memory.items()].filter((item) => item.pk === pk);
    const nodes = items.filter(({ sk }) => String(sk).startsWith(nodePrefix));
    return {
      levels: Math.max(...nodes.map(({ sk }) => Number(String(sk).split("#")[2]))),
      nodes: nodes.length,
      root: itemSize(items.find(({ sk }) => sk === "root") ?? {}),
      "largest node": Math.max(...nodes.map(itemSize)),
    };
  }
}
