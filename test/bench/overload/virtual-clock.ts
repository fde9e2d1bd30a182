/** A callback that waits for its time. */
interface Timer {
  readonly at: number;
  /** Breaks ties: earlier timers run first. */
  readonly order: number;
  run: (() => void) | undefined;
}

/** After how many timers the event loop goes on, so that signals and rejections are noticed. */
const timersPerTurn = 256;

/**
 * Waits until every promise that has settled has run its continuations: Node runs a tick, like an immediate, when none
 * is left, and needs much less time for it.
 *
 * @see https://nodejs.org/en/learn/asynchronous-work/event-loop-timers-and-nexttick
 */
const settle = (turn: boolean) =>
  new Promise<void>((resolve) => (turn ? setImmediate(resolve) : process.nextTick(resolve)));

/** A clock that jumps from one timer to the next, and waits for the promises of each before it goes on. */
export class VirtualClock {
  /** In milliseconds since the epoch, with fractions. */
  now: number;
  readonly #heap: Timer[] = [];
  #order = 0;

  constructor(start: number) {
    this.now = start;
  }

  /** @returns a function that cancels the timer */
  after(milliseconds: number, run: () => void): () => void {
    const timer: Timer = { at: this.now + Math.max(0, milliseconds), order: this.#order++, run };
    this.#push(timer);
    return () => {
      timer.run = undefined;
    };
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  /** Runs all timers up to a time. */
  async runUntil(end: number): Promise<void> {
    const { stackTraceLimit } = Error;
    // Throttled calls throw many errors whose stacks nobody reads.
    Error.stackTraceLimit = 0;
    try {
      await this.#run(end);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  async #run(end: number): Promise<void> {
    let ran = 0;
    for (let next = this.#heap[0]; next && next.at <= end; next = this.#heap[0]) {
      this.#pop();
      if (!next.run) continue;
      this.now = next.at;
      next.run();
      await settle(ran++ % timersPerTurn === 0);
    }
    this.now = Math.max(this.now, end);
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Timer;
      if (!isBefore(timer, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child++;
      if (!isBefore(heap[child] as Timer, last)) break;
      heap[at] = heap[child] as Timer;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.order < b.order);
