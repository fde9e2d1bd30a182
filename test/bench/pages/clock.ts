const real = Date.now.bind(Date);
let ahead = 0;

/** Replaces `Date.now` by a clock that `advanceClock` moves ahead. */
export function installClock(): void {
  Date.now = () => real() + ahead;
}

/** Moves the clock ahead, in milliseconds; call it between two table calls, never during one. */
export function advanceClock(milliseconds: number): void {
  ahead += Math.ceil(milliseconds);
}
