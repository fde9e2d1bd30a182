import { setTimeout } from "node:timers/promises";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { plan } from "./plan.ts";
import type { Service } from "./service.ts";
import { Tally } from "./tally.ts";
import { saturate, type Traffic } from "./traffic.ts";

/** A long run over a fixed number of connections, with its memory samples. */
export type Endurance = Awaited<ReturnType<typeof endure>>;

/**
 * How long after the last request the service is idle, in milliseconds: the maintainer waits for young rows with its
 * batch in memory, and then handles another batch.
 */
const countedAfter = 2 * limits.allowedLateness + 3000;

/** Sends the requests in portions and measures memory between them, while the service is idle. */
export async function endure(
  service: Service,
  traffic: Traffic,
  connections: number,
  log: (line: string) => void,
) {
  const { requests, samplesPerTenth } = plan.endurance;
  const tally = new Tally();
  /** The memory of the execution environments after a number of requests. */
  const samples: { readonly requests: number; readonly heaps: Awaited<ReturnType<Service["heap"]>> }[] = [];
  const portion = requests / (10 * samplesPerTenth);
  for (let sent = portion; sent <= requests; sent += portion) {
    let remaining = portion;
    await saturate(traffic, connections, () => remaining-- > 0, tally);
    log(`${sent.toLocaleString("en")} of ${requests.toLocaleString("en")} requests`);
    await setTimeout(countedAfter);
    samples.push({ requests: sent, heaps: await service.heap() });
  }
  return { requests, connections, tally, samples };
}
