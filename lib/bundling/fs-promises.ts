import fs from "node:fs";

/**
 * Reads a file. Replaces the module `node:fs/promises`, which Node takes milliseconds to load.
 *
 * Safe: it does the same, and the SDK imports nothing else, for the file of its settings, which a function does not have.
 */
export const readFile = (path: string, encoding: "utf8") => fs.promises.readFile(path, encoding);
