/** Cuts a list into parts of `most`; the last part has the rest. */
export const cut = <T>(all: readonly T[], most: number): (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, i) => all.slice(i * most, (i + 1) * most));
