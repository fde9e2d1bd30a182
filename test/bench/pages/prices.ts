/** List prices in dollars, for a million or a GB: docs/deploying.md names their sources. */
export const prices = {
  gateway: 1,
  call: 0.2,
  /** Of 1 GB of memory for a second. */
  second: 13.33,
  /** The log of a million requests: 2 KB each. */
  log: 0.5 * 1.91,
  write: 0.625,
  read: 0.125,
  /** With a call of `publish-events`, which takes 20 ms. */
  event: 1 + 0.2 + 13.33 * 0.02,
  /** To the internet. */
  transfer: 0.09,
};
