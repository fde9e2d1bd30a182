import fs from "node:fs";

/**
 * Reads a file, as `node:fs/promises` does. In a bundle it stands for that module, which Node takes milliseconds to load:
 * the SDK imports it for the file of its settings, which a function does not have.
 */
export const readFile = (path: string, encoding: "utf8") => fs.promises.readFile(path, encoding);
