import { setTimeout } from "node:timers/promises";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { WorkerHeap } from "./heap.ts";
import type { Service } from "./service.ts";
import { Tally } from "./tally.ts";
import { saturate, type Traffic } from "./traffic.ts";

/** The memory of the execution environments after so many requests. */
export interface HeapSample {
  readonly requests: number;
  readonly heaps: readonly WorkerHeap[];
}

/** A long run over a fixed number of connections, and how the memory went. */
export interface Endurance {
  readonly requests: number;
  readonly connections: number;
  readonly tally: Tally;
  readonly samples: readonly HeapSample[];
}

/** How long the run is, and how often the memory is measured in each tenth of it. */
export interface Length {
  readonly requests: number;
  readonly samplesOfTenth: number;
}

/**
 * How long after the last request nothing is served any more, in milliseconds: the maintainer of counts waits for what
 * is young, with all of its batch in memory, and then has another batch.
 */
const countedAfter = 2 * limits.allowedLateness + 3000;

/** Sends so many requests; the memory is measured between them, when nothing is served. */
export async function endure(
  service: Service,
  traffic: Traffic,
  connections: number,
  { requests, samplesOfTenth }: Length,
  log: (line: string) => void,
): Promise<Endurance> {
  const tally = new Tally();
  const samples: HeapSample[] = [];
  const portion = requests / (10 * samplesOfTenth);
  for (let sent = portion; sent <= requests; sent += portion) {
    let left = portion;
    await saturate(traffic, connections, () => left-- > 0, tally);
    log(`${sent.toLocaleString("en")} of ${requests.toLocaleString("en")} requests`);
    await setTimeout(countedAfter);
    samples.push({ requests: sent, heaps: await service.heap() });
  }
  return { requests, connections, tally, samples };
}
