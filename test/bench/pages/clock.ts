let now = Date.UTC(2026, 0, 1);

/** Replaces `Date.now` by a clock that only `advanceClock` moves: every run gives the same figures. */
export function installClock(): void {
  Date.now = () => now;
}

/** Moves the clock ahead, in milliseconds; call it between two table calls, never during one. */
export function advanceClock(milliseconds: number): void {
  now += Math.ceil(milliseconds);
}
