const real = Date.now.bind(Date);
let ahead = 0;

/** Makes `Date.now` run ahead of the machine's clock, as far as it is moved. */
export function installClock(): void {
  Date.now = () => real() + ahead;
}

/** Lets time pass at once, in milliseconds: between two calls of the table, never during one. */
export function advanceClock(milliseconds: number): void {
  ahead += Math.ceil(milliseconds);
}
