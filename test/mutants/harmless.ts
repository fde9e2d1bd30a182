/** Mutants that change nothing that a test could notice, by the end of their file's path and of their change. */
const harmless: readonly (readonly [file: string, change: string])[] = [];

/** Whether a mutant needs no test. @param change the changed lines, before and after */
export const isHarmless = (file: string, change: string): boolean =>
  harmless.some(([path, text]) => path === file && text === change);
