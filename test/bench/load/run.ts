import { seeded, skewed } from "../../support/random.ts";
import { Account, type Exchange } from "./account.ts";
import { type Connections, openConnections } from "./connections.ts";
import { endure } from "./endurance.ts";
import { neighbours } from "./neighbours.ts";
import { plan } from "./plan.ts";
import { type Service, startService } from "./service.ts";
import { ramp, saturate } from "./traffic.ts";

/** Everything that a run measured. */
export type Results = Awaited<ReturnType<typeof run>>;

/** As many as a small machine can serve without a queue. */
const enduranceConnections = 4;

/** A throttle and a rate limit that this machine cannot reach. */
const throttle = { throttleRate: 100_000, throttleBurst: 100_000 };
const unlimited = { ...throttle, rateLimitRequests: 100_000_000 };

type Log = (line: string) => void;

/** Runs every scenario. */
export async function run(log: Log) {
  const mixed = await withService("load", unlimited, (service) => mixedLoad(service, log));
  const { requests: rateLimitRequests, seconds: rateLimitSeconds } = plan.rateLimit;
  const limited = { ...throttle, rateLimitRequests, rateLimitSeconds };
  const rounds = await withService("neighbours", limited, (service) => twoAccounts(service, log));
  return { ...mixed, rounds };
}

async function mixedLoad(service: Service, log: Log) {
  const random = seeded(1);
  const accounts = await createAccounts(service, 8, random);
  const connections = openConnections(service.url, Math.max(...plan.levels));
  log("warming up");
  await warmUp(accounts, connections, enduranceConnections);
  const traffic = { next: buildMix(accounts, random), connections };
  // Before the growing load, which starts environments that this run does not need.
  const endurance = await endure(service, traffic, enduranceConnections, log);
  log("growing load");
  const levels = await ramp(traffic, plan.levels, plan.levelSeconds);
  connections.close();
  return { endurance, levels };
}

/** How many requests of each kind each connection sends. */
const warmUpRounds = 10;

const warmUpKinds: readonly ((account: Account) => Exchange)[] = [
  (account) => account.createLead(),
  (account) => account.sendMessage(),
  (account) => account.listLeads(),
  (account) => account.listConversations(),
];

/**
 * Creates leads and conversations in every account and starts as many environments of every function as the load can
 * need, by sending one kind of request at a time over all connections.
 *
 * @throws Error at the first wrong response
 */
async function warmUp(
  accounts: readonly Account[],
  connections: Connections,
  parallel: number,
): Promise<void> {
  for (const kind of warmUpKinds) {
    for (const account of accounts) {
      let remaining = warmUpRounds * parallel;
      const tally = await saturate(
        { next: () => kind(account), connections },
        parallel,
        () => remaining-- > 0,
      );
      for (const [error] of tally.errors) throw new Error(`The warm-up failed: ${error}`);
    }
  }
}

async function twoAccounts(service: Service, log: Log) {
  const random = seeded(2);
  const accounts = await createAccounts(service, 2, random);
  const [quiet, greedy] = accounts.map((account) => ({
    fill: () => account.createLead(),
    mix: buildMix([account], random),
  }));
  if (!quiet || !greedy) throw new Error("Two accounts are needed.");
  log("a greedy neighbour");
  return neighbours(service.url, { quiet, greedy });
}

async function createAccounts(service: Service, count: number, random: () => number): Promise<Account[]> {
  const accounts: Account[] = [];
  for (let n = 1; n <= count; n++) {
    accounts.push(new Account(await service.issueKey(`account-${n}`), random));
  }
  return accounts;
}

async function withService<T>(
  name: string,
  settings: Readonly<Record<string, number>>,
  use: (service: Service) => Promise<T>,
): Promise<T> {
  const service = await startService(name, settings);
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

/** How many of a hundred requests are of each kind: two of three read. */
const shares: readonly (readonly [(account: Account) => Exchange, number])[] = [
  [(account) => account.listLeads(), 25],
  [(account) => account.filterLeads(), 15],
  [(account) => account.listConversations(), 15],
  [(account) => account.filterConversations(), 10],
  [(account) => account.createLead(), 15],
  [(account) => account.sendMessage(), 16],
  [(account) => account.sendAgain(), 4],
];

/** Builds a function that chooses the next request: of a random account, of each kind in proportion to its share. */
function buildMix(accounts: readonly Account[], random: () => number): () => Exchange {
  const kind = skewed(random, shares);
  const account = skewed(
    random,
    accounts.map((account) => [account, 1] as const),
  );
  return () => kind()(account());
}
