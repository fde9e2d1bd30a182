/** The length of each scenario. */
export const plan = {
  /** The requests of the long run, and how often memory is measured in each tenth of it. */
  endurance: { requests: 100_000, samplesPerTenth: 2 },
  /** The numbers of connections of the growing load, and the seconds at each. */
  levels: [1, 2, 4, 8, 16, 32],
  levelSeconds: 5,
  /**
   * Requests per second of the quiet account, within its limit, and of the greedy one, over it; the seconds of each half of
   * a round. A third of what two processors can serve: at full load, every request would wait for others.
   */
  neighbours: { quietRate: 10, greedyRate: 45, seconds: 40, rounds: 3 },
  /** The rate limit of each neighbour. */
  rateLimit: { requests: 30, seconds: 2 },
};
